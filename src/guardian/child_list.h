#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace plimsoll::guardian {

// The children of the first thread of the calling process, to which orphans come and which alone
// waits for them: those that have come since the last look. Whoever has thousands pays for the new
// ones, and for the kernel to pass over the others: 16,000 are passed over in 10 ms and read in 30.
//
// The kernel has them in the order in which they came (/proc/PID/task/TID/children, since Linux
// 3.5): a child is put at the end, and is taken out when it has been waited for. So new ones begin
// after the text of those that are known. Where the last that is known is not found there, all are
// read. None where the kernel has no such file.
class ChildList {
 public:
  [[nodiscard]] std::vector<pid_t> take_new();
  // This child has been waited for.
  void ended(pid_t child);

 private:
  std::optional<std::string> read_after_known();
  std::vector<pid_t> add(std::vector<pid_t> those);
  void drop_ended();

  std::vector<pid_t> order_;  // those of known_, and some that have ended
  std::unordered_set<pid_t> known_;
  std::size_t size_ = 0;  // of the text of those
};

// All of them, whichever thread has made them.
[[nodiscard]] std::vector<pid_t> children();

// As many of those of the first thread as cost little: some thousands. Nothing where the kernel has
// no such file.
struct FirstChildren {
  std::vector<pid_t> pids;
  bool are_all = true;
};
[[nodiscard]] std::optional<FirstChildren> first_children();

}  // namespace plimsoll::guardian
