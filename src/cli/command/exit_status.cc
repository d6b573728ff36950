#include "cli/command/exit_status.h"

namespace plimsoll::cli {
namespace {

int of_start_failure(const std::optional<guardian::StartFailed>& failure) {
  if (!failure || failure->step != guardian::SpawnStep::exec) return kPlimsollFailed;
  return failure->code == std::errc::no_such_file_or_directory ? kNotFound : kCannotExecute;
}

int of_end(const policy::AttemptEnd& end, int not_started) {
  switch (end.outcome) {
    case policy::Outcome::exited: return end.exit_code.value_or(kPlimsollFailed);
    case policy::Outcome::signalled: return kSignalBase + end.signal.value_or(0);
    case policy::Outcome::over_limit:
    case policy::Outcome::over_line: return kOverLimit;
    case policy::Outcome::evicted:
    case policy::Outcome::machine_oom: return kLostToMachine;
    case policy::Outcome::timed_out: return kTimedOut;
    case policy::Outcome::cancelled:
    case policy::Outcome::skipped: return kCancelled;
    case policy::Outcome::failed_to_start: return not_started;
  }
  return kPlimsollFailed;
}

}  // namespace

int exit_status_of(const supervisor::AttemptResult& result) {
  return of_end(result.end, of_start_failure(result.failure));
}

int exit_status_of(const policy::Halted& halted) {
  const policy::Tally& tally = halted.tally;
  if (halted.policy.on == policy::HaltOn::success) return kSuccess;
  if (halted.policy.threshold == decltype(halted.policy.threshold)(policy::JobCount{1})) {
    return of_end(halted.last, kNotFound);
  }
  if (std::holds_alternative<policy::JobCount>(halted.policy.threshold)) {
    return policy::batch_exit_status(tally.failed);
  }
  constexpr std::uint64_t kWhole = 100;
  const bool failed = halted.policy.on == policy::HaltOn::fail;
  const std::uint64_t count = failed ? tally.failed : tally.failed + tally.succeeded;
  return static_cast<int>(count * kWhole / tally.entered);
}

}  // namespace plimsoll::cli
