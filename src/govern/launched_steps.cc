#include "govern/launched_steps.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "govern/drivers.h"
#include "kernel/procfs/table.h"
#include "supervisor/reporting.h"
#include "supervisor/wall_clock.h"

namespace plimsoll::govern {

LaunchedSteps::LaunchedSteps(supervisor::Supervisor& supervisor,
                             supervisor::HostScheduler& scheduler, StepsShared shared)
    : supervisor_(supervisor),
      scheduler_(scheduler),
      shared_(std::move(shared)),
      host_(supervisor.describe()),
      service_(supervisor, scheduler, static_cast<supervisor::CommandsOwner&>(*this)) {}

LaunchedSteps::~LaunchedSteps() = default;

// A launcher is a driver, and what it is about to start is where it is.
Result<const policy::JobSpec*> LaunchedSteps::job_of(int pid) {
  const bool is_driver = drivers_ != nullptr && drivers_->has(pid);
  if (!is_driver) return fail(std::errc::permission_denied, "the process is no driver of this run");
  return nullptr;
}

void LaunchedSteps::command_begins(const policy::JobSpec& command, int pid) {
  Launched& step = steps_[command.id];
  step.queued = supervisor::wall_now();
  step.waiting_since = supervisor_.now();
  ++shared_.counts.begun;
  const auto process = procfs::stat_of(pid);
  if (!process) return;  // it is gone, and can't be moved
  Exec exec{.process = process->id, .parent = process->parent, .file = {}, .argv = {}};
  for (const std::string_view word : std::get<Words>(command.command)) exec.argv.emplace_back(word);
  exec.file = exec.argv.front();
  step.may_hold_tokens = govern::may_hold_tokens(exec);
  shared_.tree.begun(command.id, exec);
}

void LaunchedSteps::command_waits(JobId command) {
  if (!std::exchange(steps_.at(command).was_held, true)) ++shared_.counts.held;
}

void LaunchedSteps::command_starts(JobId command, std::shared_ptr<supervisor::Place> place) {
  Launched& step = steps_.at(command);
  step.place = std::move(place);
  step.waited = supervisor_.now() - step.waiting_since;
}

// Where it was refused, its exec begins another step.
void LaunchedSteps::command_withdrawn(JobId command) {
  --shared_.counts.begun;
  if (const auto step = steps_.find(command); step != steps_.end() && step->second.was_held) {
    --shared_.counts.held;
  }
  drop(command);
}

void LaunchedSteps::command_ended(const policy::JobSpec& command,
                                  const supervisor::AttemptGone& gone) {
  const Launched step = std::move(steps_.at(command.id));
  drop(command.id);
  if (step.is_driver) return;
  const policy::Outcome outcome = gone.result.end.outcome;
  const bool was_lost =
      outcome == policy::Outcome::evicted || outcome == policy::Outcome::machine_oom;
  if (command.restartable && was_lost) {
    --shared_.counts.begun;
    ++shared_.counts.again;
    return;
  }
  const supervisor::JobEnd end{.job = command,
                               .queued = step.queued,
                               .held = step.waited,
                               .paused = gone.result.paused,
                               .attempts = {supervisor::short_report_of(gone.result)},
                               .last = &gone.result,
                               .outcome = outcome,
                               .reason = gone.result.reason,
                               .machine = gone.machine};
  shared_.observer.on_step_ended(command, supervisor::report_of(end, host_));
}

void LaunchedSteps::command_stuck(const std::string& name, const reap::Stuck& stuck) {
  shared_.observer.on_notice("step " + name + ": " + supervisor::stuck_text(stuck));
}

void LaunchedSteps::drop(JobId step) {
  shared_.tree.ended(step);
  steps_.erase(step);
}

void LaunchedSteps::goes_on(JobId step, const Exec& exec) {
  const auto found = steps_.find(step);
  if (found == steps_.end()) return;
  if (govern::may_hold_tokens(exec)) found->second.may_hold_tokens = true;
  if (found->second.place != nullptr) found->second.place->has_seen(exec.process);
}

std::shared_ptr<supervisor::Place> LaunchedSteps::release(JobId step) {
  Launched& launched = steps_.at(step);
  launched.is_driver = true;
  if (std::exchange(launched.was_held, false)) --shared_.counts.held;
  return launched.place;
}

bool LaunchedSteps::may_hold_tokens() const {
  return std::any_of(steps_.begin(), steps_.end(),
                     [](const auto& step) { return step.second.may_hold_tokens; });
}

void LaunchedSteps::resume_all() {
  std::vector<JobId> running;
  for (const auto& [id, step] : steps_) {
    if (step.place != nullptr) running.push_back(id);
  }
  for (const JobId id : running) {
    [[maybe_unused]] const auto resumed = scheduler_.scheduler().resume(id);
  }
}

std::vector<RunningStep> LaunchedSteps::running() const {
  std::vector<RunningStep> running;
  for (const auto& [id, step] : steps_) {
    if (step.place == nullptr || !step.place->is_populated()) continue;
    running.push_back({.pid = {}, .command = policy::command_line(service_.spec_of(id)->command)});
  }
  return running;
}

void LaunchedSteps::end_all(const std::string& why) {
  drivers_.reset();
  service_.end_all(why);
}

}  // namespace plimsoll::govern
