#include "daemon/runner/runner_answer.h"

#include <signal.h>
#include <string.h>  // sigabbrev_np

#include "daemon/runner/runner_plan.h"

namespace plimsoll::daemon {
namespace {

using policy::Outcome;

// The words of bb_runner's own check for it.
constexpr const char* kOomKilled =
    "An action process was OOM-killed without the action reaching its cgroup memory limit";

// As others write it; the C library calls 29 POLL.
std::string name_of_signal(int number) {
  if (number == SIGIO) return "IO";
  const char* name = ::sigabbrev_np(number);
  return name == nullptr ? "" : name;
}

CgroupUsage::Stall stall_of(const std::optional<counters::Pressure>& pressure) {
  CgroupUsage::Stall stall;
  if (!pressure) return stall;
  if (pressure->some) stall.some = pressure->some->total;
  if (pressure->full) stall.full = pressure->full->total;
  return stall;
}

Status status_of(const supervisor::AttemptResult& result) {
  switch (result.end.outcome) {
    case Outcome::exited:
    case Outcome::signalled:
    case Outcome::over_limit: return {};
    case Outcome::machine_oom: return {Code::unavailable, kOomKilled};
    case Outcome::evicted:
      return {Code::unavailable,
              "The action was ended to free memory for others: " + result.reason};
    case Outcome::over_line:
      return {Code::unavailable,
              "The action needs more memory than this machine has for it: " + result.reason};
    case Outcome::timed_out: return {Code::deadline_exceeded, result.reason};
    case Outcome::cancelled: return {Code::cancelled, result.reason};
    case Outcome::failed_to_start:
      if (result.failure) return plimsoll::daemon::status_of(*result.failure);
      return {Code::internal, "Failed to start process: " + result.reason};
    case Outcome::skipped: return {Code::unavailable, result.reason};
  }
  return {Code::internal, result.reason};
}

}  // namespace

CgroupUsage cgroup_usage_of(const counters::JobUsage& usage) {
  const counters::MemoryUsage& memory = usage.totals.memory;
  CgroupUsage told;
  told.events = {.low = memory.events.low.value_or(0),
                 .high = memory.events.high.value_or(0),
                 .max = memory.events.max.value_or(0),
                 .oom = memory.events.oom.value_or(0),
                 .oom_kill = memory.events.oom_kill.value_or(0),
                 .oom_group_kill = memory.events.oom_group_kill.value_or(0)};
  told.peak = memory.peak.value_or(Bytes{});
  told.memory = stall_of(memory.pressure);
  told.cpu = stall_of(usage.totals.cpu.pressure);
  told.io = stall_of(usage.totals.io.pressure);
  return told;
}

RunAnswer answer_of(const supervisor::AttemptResult& result) {
  RunAnswer answer{.status = status_of(result)};
  if (!answer.status.ok()) return answer;
  // What was killed whole for its own limit before its main process had a status of its own.
  constexpr int kUnknown = SIGKILL;
  if (result.end.exit_code) {
    answer.exit_code = *result.end.exit_code;
  } else {
    answer.exit_code = kSignalledExitCode;
    answer.posix.termination_signal = name_of_signal(result.end.signal.value_or(kUnknown));
  }
  if (result.kernel_usage) answer.posix.usage = *result.kernel_usage;
  answer.cgroup = cgroup_usage_of(result.usage);
  return answer;
}

}  // namespace plimsoll::daemon
