#include "supervisor/control/run_status.h"

#include <algorithm>

#include "base/text.h"
#include "report/plain.h"

namespace plimsoll::supervisor {
namespace {

RunningJob running_job(const policy::JobStatus& job, const policy::JobSpec& spec,
                       const report::SharedText& commands) {
  std::string command = policy::command_line(spec.command);
  std::string distinct =
      report::fitted_in_the_middle(commands.distinct_part(command), kCommandShownMax);
  // Where bytes are cut, a character may be: whoever prints them cleans them.
  if (command.size() > kCommandShownMax) command.resize(kCommandShownMax);
  return {.job = job.job,
          .name = spec.name,
          .command = std::move(command),
          .distinct = std::move(distinct),
          .state = job.state,
          .attempt = job.attempt,
          .ran = job.ran,
          .paused = job.frozen,
          .used = job.used,
          .cores = job.cores,
          .estimate = job.estimate,
          .remaining = job.remaining};
}

}  // namespace

RunStatus run_status(const policy::ConductorStatus& conductor, const RunFacts& facts,
                     const std::function<const policy::JobSpec&(JobId)>& spec_of) {
  RunStatus status{.run = facts.run,
                   .elapsed = facts.elapsed,
                   .jobs = facts.ended,
                   .line = conductor.line,
                   .used = conductor.used,
                   .cores = conductor.cores,
                   .cores_used = 0,
                   .cores_of_others = conductor.cores_of_others,
                   .jobs_max = conductor.jobs_max,
                   .counts = conductor.counts,
                   .holding = {},
                   .remaining = conductor.remaining,
                   .others = {},
                   .running = {}};
  for (const policy::JobStatus& job : conductor.jobs) {
    status.running.push_back(running_job(job, spec_of(job.job), facts.commands));
    const bool frozen = job.state == policy::JobState::frozen;
    if (frozen) ++status.jobs.paused;
    if (job.state == policy::JobState::running) {
      ++status.jobs.running;
      status.cores_used += job.cores.value_or(0);
    }
  }
  const std::size_t begun = status.jobs.running + status.jobs.paused;
  status.jobs.waiting = conductor.unfinished - std::min(begun, conductor.unfinished);
  if (conductor.holding) {
    HoldingStatus holding{conductor.holding->job,
                          spec_of(conductor.holding->job).name,
                          conductor.holding->reason,
                          {}};
    for (const auto& [key, value] : conductor.holding->numbers) {
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
