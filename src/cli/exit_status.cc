#include "cli/exit_status.h"

namespace plimsoll::cli {
namespace {

int of_start_failure(const std::optional<guardian::StartFailed>& failure) {
  if (!failure || failure->step != guardian::SpawnStep::exec) return kPlimsollFailed;
  return failure->code == std::errc::no_such_file_or_directory ? kNotFound : kCannotExecute;
}

}  // namespace

int exit_status_of(const engine::AttemptResult& result) {
  switch (result.end.outcome) {
    case policy::Outcome::exited: return result.end.exit_code.value_or(kPlimsollFailed);
    case policy::Outcome::signalled: return kSignalBase + result.end.signal.value_or(0);
    case policy::Outcome::over_limit:
    case policy::Outcome::over_line: return kOverLimit;
    case policy::Outcome::evicted:
    case policy::Outcome::machine_oom: return kLostToMachine;
    case policy::Outcome::timed_out: return kTimedOut;
    case policy::Outcome::cancelled:
    case policy::Outcome::skipped: return kCancelled;
    case policy::Outcome::failed_to_start: return of_start_failure(result.failure);
  }
  return kPlimsollFailed;
}

}  // namespace plimsoll::cli
