#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "govern/exec.h"

namespace plimsoll::govern {

// An exec that stands in the kernel until it is answered.
enum class PendingExec : std::uint64_t {};

// Who is told of the execs below a command: by the kernel, while they stand (ExecListener), or
// after they are done (ExecWatcher).
class ExecObserver {
 public:
  ExecObserver() = default;
  ExecObserver(const ExecObserver&) = delete;
  ExecObserver& operator=(const ExecObserver&) = delete;
  virtual ~ExecObserver() = default;
  // To be answered once, from within the call or later; nothing: it is done (Exec::is_done), and
  // nobody waits.
  virtual void on_exec(std::optional<PendingExec> pending, const Exec& exec) = 0;
  // What is executed can't be read, for a reason that stays: all execs go on unseen. Of the first.
  virtual void on_blind(const Error& why) = 0;
};

}  // namespace plimsoll::govern
