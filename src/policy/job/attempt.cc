#include "policy/job/attempt.h"

#include <signal.h>
#include <string.h>

#include <algorithm>

namespace plimsoll::policy {
namespace {

// Of POSIX shells.
constexpr int kCannotExecute = 126;
constexpr int kNotFound = 127;

}  // namespace

bool succeeded(Outcome outcome, std::optional<int> exit_code) {
  return outcome == Outcome::exited && exit_code == 0;
}

bool was_never_executed(const AttemptEnd& end) {
  if (end.outcome == Outcome::failed_to_start) return true;
  return end.outcome == Outcome::exited &&
         (end.exit_code == kCannotExecute || end.exit_code == kNotFound);
}

std::string describe(const AttemptEnd& end) {
  switch (end.outcome) {
    case Outcome::exited:
      return end.exit_code ? "exited with code " + std::to_string(*end.exit_code) : "exited";
    case Outcome::signalled:
      return end.signal ? "was ended by signal " + signal_name(*end.signal)
                        : "was ended by a signal";
    case Outcome::over_limit: return "exceeded its own memory limit";
    case Outcome::over_line: return "did not fit below the line";
    case Outcome::evicted: return "was evicted";
    case Outcome::machine_oom:
      return "was killed by the kernel because the machine ran out of memory";
    case Outcome::timed_out: return "timed out";
    case Outcome::cancelled: return "was cancelled";
    case Outcome::failed_to_start: return "failed to start";
    case Outcome::skipped: return "was skipped";
  }
  return {};
}

std::string signal_name(int signal) {
  if (const char* name = ::sigabbrev_np(signal)) return name;
  const int first = SIGRTMIN;
  if (signal == first) return "RTMIN";
  if (signal > first && signal <= SIGRTMAX) return "RTMIN+" + std::to_string(signal - first);
  return std::to_string(signal);
}

int batch_exit_status(std::size_t jobs_not_succeeded) {
  return static_cast<int>(std::min(jobs_not_succeeded, std::size_t{kExitCountMax + 1}));
}

}  // namespace plimsoll::policy
