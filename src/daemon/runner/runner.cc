#include "daemon/runner/runner.h"

#include <fcntl.h>

#include <algorithm>

#include "base/check.h"
#include "base/quantity.h"
#include "daemon/runner/build_directory.h"
#include "daemon/runner/runner_action.h"
#include "report/json.h"
#include "report/summary.h"

// The actions of a runner, from the call to the answer.
namespace plimsoll::daemon {
namespace {

constexpr const char* kJsonReport = "plimsoll.json";
constexpr const char* kTextReport = "plimsoll.txt";

const Status kGoingDown = {Code::unavailable, "The runner is shutting down"};
const Status kCancelled = {Code::internal, "The call was cancelled before the action began"};

bool is_for_memory(policy::HoldCause cause) {
  switch (cause) {
    case policy::HoldCause::memory:
    case policy::HoldCause::alone:
    case policy::HoldCause::share:
    case policy::HoldCause::calm: return true;
    case policy::HoldCause::cores:
    case policy::HoldCause::disk:
    case policy::HoldCause::pace:
    case policy::HoldCause::places:
    case policy::HoldCause::cap:
    case policy::HoldCause::space: return false;
  }
  return false;
}

std::string log_line(const std::string& name, const report::JobReport& report,
                     const Status& status) {
  std::string line = "action " + name + ": ";
  if (!status.ok()) {
    line += status.text;
  } else if (report.exit_code) {
    line += "exit code " + std::to_string(*report.exit_code);
  } else {
    line += report.reason;
  }
  if (report.times.wall) line += ", " + format_duration(*report.times.wall);
  if (!report.usage) return line;
  const counters::Sample& totals = report.usage->totals;
  if (totals.cpu.usage) line += ", CPU " + format_duration(*totals.cpu.usage);
  if (totals.memory.peak) line += ", peak " + format_bytes(*totals.memory.peak);
  if (const auto& paused = report.times.paused; paused && *paused > Duration{}) {
    line += ", paused " + format_duration(*paused);
  }
  return line;
}

}  // namespace

Runner::Runner(const RunnerDeps& deps, RunnerSettings settings)
    : deps_(deps),
      settings_(std::make_shared<const RunnerSettings>(std::move(settings))),
      host_(deps_.jobs.host()),
      null_input_(::open("/dev/null", O_RDONLY | O_CLOEXEC)) {
  for (const std::string& path : settings_->cleaned_directories) {
    temporary_.push_back(std::make_shared<const TemporaryDirectory>(path));
  }
}

Runner::~Runner() = default;

std::string Runner::lane_of(const Action& action) const {
  return join(settings_->build_directory, action.directory);
}

Runner::Action* Runner::find(CallId id) {
  const auto found = actions_.find(id);
  return found == actions_.end() ? nullptr : found->second.get();
}

void Runner::run(CallId id, ActionRequest order, WorkerCall& call) {
  if (draining_) return call.ran({.status = kGoingDown});
  if (actions_.size() >= kActionsMax) {
    return call.ran({.status = {Code::unavailable, "The runner has too many actions already"}});
  }
  const auto [made, is_new] =
      actions_.emplace(id, std::make_unique<Action>(*this, id, std::move(order), call));
  PLIMSOLL_CHECK(is_new);
  enter_directory(*made->second);
}

// An earlier action there may still be dying: what it leaves must not meet what is laid out anew.
void Runner::enter_directory(Action& action) {
  std::deque<CallId>& line = directories_[action.directory];
  line.push_back(action.id);
  if (line.size() == 1) acquire(action);
}

void Runner::leave_directory(const Action& action) {
  const auto place = directories_.find(action.directory);
  std::deque<CallId>& line = place->second;
  const bool had_it = line.front() == action.id;
  std::erase(line, action.id);
  if (line.empty()) {
    directories_.erase(place);
  } else if (had_it) {
    acquire(*find(line.front()));
  }
}

void Runner::acquire(Action& action) {
  action.stage = Stage::cleaning;
  cleaner_.acquire([this, id = action.id](Status status) {
    Action& known = *find(id);
    if (!status.ok()) {
      known.refuse(std::move(status));
      return finish(known, {});
    }
    ++running_;
    if (known.cancelled) known.refuse(kCancelled);
    if (draining_) known.refuse(kGoingDown);
    if (!known.result.status.ok()) return release(known);
    link_for(known);
  });
}

void Runner::link_for(Action& action) {
  action.stage = Stage::planning;
  const std::string& directory = action.order->temporary_directory;
  const bool has_nul = directory.find('\0') != std::string::npos;
  if (has_nul && !settings_->symlinked_temporary_directories.empty()) {
    action.refuse({Code::invalid_argument,
                   "Failed to resolve temporary directory: Path contains a null byte"});
    return report(action);
  }
  link(join(settings_->build_directory, directory), [this, id = action.id](Status linked) {
    Action& known = *find(id);
    known.refuse(std::move(linked));
    if (!known.result.status.ok()) return report(known);
    plan(known);
  });
}

void Runner::plan(Action& action) {
  auto planned = std::make_shared<Planned>();
  auto work = [planned, order = action.order, settings = settings_](FileTurn&) {
    *planned = plan_run(*order, *settings);
    return planned->status;
  };
  deps_.files.submit(
      lane_of(action), std::move(work),
      [this, planned, id = action.id](Status status) {
        Action& known = *find(id);
        known.refuse(std::move(status));
        if (known.cancelled) known.refuse(kCancelled);
        if (draining_) known.refuse(kGoingDown);
        if (!known.result.status.ok()) return report(known);
        known.plan = std::move(planned->plan);
        conduct(known);
      },
      Lanes::Step::first);
}

void Runner::conduct(Action& action) {
  action.stage = Stage::conducted;
  action.job = deps_.jobs.next_id();
  if (action.order->time_left) {
    const Duration left = *action.order->time_left;
    action.hold_end = action.arrived + left - std::min(kHoldMargin, left / kHoldMarginPart);
  }
  action.hold_timer = deps_.clock.timer([this, id = action.id] {
    if (Action* known = find(id)) end_waiting(*known);
  });
  action.hold_timer->set(std::min(deps_.clock.now() + kHoldMax, action.hold_end));
  deps_.jobs.enter(action.spec_of(action.job), action);
}

bool Runner::has_waited(Duration time) const {
  const Instant now = deps_.clock.now();
  return std::any_of(actions_.begin(), actions_.end(), [&](const auto& entry) {
    return entry.second->is_waiting() && now - entry.second->arrived >= time;
  });
}

// Without memory it may never start; without cores it is only slower, so that it goes on waiting.
void Runner::end_waiting(Action& action) {
  const auto& holding = deps_.jobs.holding();
  const Instant now = deps_.clock.now();
  if (now < action.hold_end && !(holding && is_for_memory(holding->cause))) {
    return action.hold_timer->set(std::min(now + kHoldSample, action.hold_end));
  }
  give_up_waiting(action, "it waited for too long");
}

void Runner::give_up_waiting(Action& action, const std::string& reason) {
  const auto& holding = deps_.jobs.holding();
  const std::string why = holding ? reason + "; " + holding->reason : reason;
  // An error says that it runs, or is over.
  [[maybe_unused]] const auto ignored = deps_.jobs.withdraw(action.job, why);
}

// No process of it is left, nor its group.
void Runner::report(Action& action) {
  action.stage = Stage::reporting;
  const report::JobReport report = action.report(host_);
  deps_.reporter.notice(log_line(action.name, report, action.result.status));
  deps_.reporter.ended(report);
  if (!settings_->sample_cgroup) action.result.cgroup.reset();
  // Whoever has cancelled removes the directory by now.
  const bool is_written = !action.cancelled && !action.order->server_logs.empty();
  if (!is_written) return release(action);
  auto work = [json = report::to_json(report, report::JsonForm::pretty),
               text = report::job_summary(report, {}) + action.story(),
               directory = action.order->server_logs, settings = settings_](FileTurn&) -> Status {
    const BuildDirectory build(settings->build_directory);
    // Without a directory for it there is no report; the action is what counts.
    [[maybe_unused]] const auto told = build.write_file(directory, kJsonReport, json);
    [[maybe_unused]] const auto wrote = build.write_file(directory, kTextReport, text);
    return {};
  };
  deps_.files.submit(lane_of(action), std::move(work),
                     [this, id = action.id](const Status&) { release(*find(id)); });
}

void Runner::release(Action& action) {
  action.stage = Stage::releasing;
  --running_;
  cleaner_.release(
      [this, id = action.id](Status after) { check_after(*find(id), std::move(after)); });
}

// An error of the action's own comes before one of the cleaning after it, and both before what is
// seen to be missing last.
void Runner::check_after(Action& action, Status cleaned) {
  action.refuse(std::move(cleaned));
  if (!action.result.status.ok() || action.result.exit_code == 0) return finish(action, {});
  look_for_needed(0, [this, id = action.id](Status missing) {
    finish(*find(id),
           std::move(missing).within("One or more required files disappeared during execution: "));
  });
}

void Runner::finish(Action& action, Status last) {
  action.refuse(std::move(last));
  const auto done = actions_.extract(action.id);
  leave_directory(*done.mapped());
  done.mapped()->call.ran(done.mapped()->result);
}

void Runner::cancel(CallId id) {
  Action* action = find(id);
  if (action == nullptr || action->cancelled) return;
  action->cancelled = true;
  if (action->stage == Stage::directory) {
    action->refuse(kCancelled);
    return finish(*action, {});
  }
  if (action->stage != Stage::conducted) return;
  const std::string reason = "the worker cancelled it";
  if (auto killed = deps_.jobs.kill(action->job, reason); killed) return;
  [[maybe_unused]] const auto withdrawn = deps_.jobs.withdraw(action->job, reason);
}

void Runner::drain() {
  draining_ = true;
  std::vector<CallId> calls;
  for (const auto& [id, action] : actions_) calls.push_back(id);
  for (const CallId id : calls) {
    Action* action = find(id);
    if (action == nullptr) continue;
    if (action->stage == Stage::directory) {
      action->refuse(kGoingDown);
      finish(*action, {});
    } else if (action->stage == Stage::conducted) {
      give_up_waiting(*action, "the runner is shutting down");
    }
  }
}

void Runner::kill_all(const std::string& reason) {
  drain();
  for (const auto& [id, action] : actions_) {
    if (action->stage != Stage::conducted) continue;
    action->refuse({Code::unavailable, reason});
    [[maybe_unused]] const auto killed = deps_.jobs.kill(action->job, reason);
  }
}

}  // namespace plimsoll::daemon
