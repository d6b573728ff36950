#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"

namespace plimsoll::cli {

// How a process has ended, and what the kernel says that it and those that it waited for used.
struct ProcessEnd {
  int code = 0;  // the exit code, or the signal
  bool by_signal = false;
  Bytes peak{};  // resident memory of the largest of them
  Duration cpu{};
};

// A child of this process that has this process's terminal, descriptors and environment, and
// executes a command once it is let. It dies with this process.
class HeldProcess {
 public:
  // Of a process with one thread. `command` is looked for in PATH. `output` is what it has as its
  // descriptors 1 and 2; -1: this process's own.
  static Result<HeldProcess> start(const std::vector<std::string>& command,
                                   std::array<int, 2> output);

  // Becomes readable when the process has ended.
  [[nodiscard]] int pidfd() const { return pidfd_.get(); }
  [[nodiscard]] pid_t pid() const { return pid_; }
  // It executes the command; if that fails it says why, and ends with 126 or 127.
  void release();
  // It ends without having executed anything, unless it was released.
  void give_up() { gate_ = UniqueFd(); }
  [[nodiscard]] bool is_released() const { return is_released_; }
  void signal(int number) const;
  // Waits for its end. Once.
  Result<ProcessEnd> wait();

 private:
  HeldProcess(pid_t pid, UniqueFd pidfd, UniqueFd gate)
      : pid_(pid), pidfd_(std::move(pidfd)), gate_(std::move(gate)) {}

  pid_t pid_;
  UniqueFd pidfd_;
  UniqueFd gate_;  // a byte through it lets the process go on
  bool is_released_ = false;
};

// Ends this process as that one has ended: with its exit code, or by the same signal.
[[nodiscard]] int end_like(const ProcessEnd& end);

// The signals that whoever started this process may send it: blocked from here on, in
// HeldProcess::start() as they were, and read from the descriptor.
Result<UniqueFd> take_signals();

// Executes the command in this process, as HeldProcess does. Returns the exit status if it fails.
[[nodiscard]] int execute(const std::vector<std::string>& command);

}  // namespace plimsoll::cli
