#include "supervisor/control/run_status.h"

#include <algorithm>

#include "base/text.h"
#include "report/plain.h"

namespace plimsoll::supervisor {
namespace {

// Commands of one run that are alike for longer are shown from their beginning.
constexpr std::size_t kCommandReadMax = 16 << 10;

RunningJob running_job(const policy::JobStatus& job, const policy::JobSpec& spec,
                       const report::SharedText& commands) {
  std::string command = policy::command_start(spec.command, kCommandReadMax);
  std::string distinct =
      report::fitted_in_the_middle(commands.distinct_part(command), kCommandShownMax);
  // Where bytes are cut, a character may be: whoever prints them cleans them.
  if (command.size() > kCommandShownMax) command.resize(kCommandShownMax);
  return {job, spec.name, std::move(command), std::move(distinct)};
}

}  // namespace

RunStatus run_status(const policy::SchedulerStatus& scheduler, const RunFacts& facts,
                     const JobSpecs& specs) {
  RunStatus status{.run = facts.run,
                   .elapsed = facts.elapsed,
                   .jobs = facts.ended,
                   .line = scheduler.line,
                   .used = scheduler.used,
                   .estimate = scheduler.estimate,
                   .cores = scheduler.cores,
                   .cores_used = 0,
                   .cores_wanted = scheduler.cores_wanted,
                   .stall = scheduler.stall,
                   .cores_of_others = scheduler.cores_of_others,
                   .jobs_max = scheduler.jobs_max,
                   .counts = scheduler.counts,
                   .holding = {},
                   .remaining = scheduler.remaining,
                   .others = {},
                   .running = {}};
  for (const policy::JobStatus& job : scheduler.jobs) {
    const policy::JobSpec& spec = specs.spec_of(job.job);
    status.running.push_back(running_job(job, spec, facts.commands));
    const bool is_running = job.state == policy::JobState::running;
    if (is_running) status.cores_used += job.cores.value_or(0);
    if (spec.part_of) continue;  // a command is no job
    ++(is_running ? status.jobs.running : status.jobs.paused);
  }
  const std::size_t begun = status.jobs.running + status.jobs.paused;
  status.jobs.waiting = scheduler.unfinished - std::min(begun, scheduler.unfinished);
  if (scheduler.holding) {
    HoldingStatus holding{scheduler.holding->job,
                          specs.spec_of(scheduler.holding->job).name,
                          scheduler.holding->reason,
                          {}};
    for (const auto& [key, value] : scheduler.holding->numbers) {
      holding.numbers.emplace_back(std::string(key), value);
    }
    status.holding = std::move(holding);
  }
  return status;
}

Result<JobId> find_job(const std::vector<policy::JobSpec>& jobs, std::string_view text) {
  for (const policy::JobSpec& job : jobs) {
    if (job.name == text) return job.id;
  }
  if (const auto number = to_u64(text)) {
    for (const policy::JobSpec& job : jobs) {
      if (job.id == JobId{*number}) return job.id;
    }
  }
  return fail("there is no job \"" + std::string(text) + "\" in this run");
}

}  // namespace plimsoll::supervisor
