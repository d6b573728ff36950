#include "daemon/runner/runner.h"

#include <fcntl.h>

#include <algorithm>

#include "base/quantity.h"
#include "daemon/runner/build_directory.h"
#include "daemon/runner/runner_action.h"
#include "daemon/runner/runner_files.h"
#include "policy/job/attempt.h"
#include "report/json.h"
#include "report/summary.h"
#include "supervisor/environment.h"
#include "supervisor/host.h"

// What a runner does beside its actions: readiness checks and cleaning.
namespace plimsoll::daemon {
namespace {

constexpr const char* kJsonReport = "plimsoll.json";
constexpr const char* kTextReport = "plimsoll.txt";

const Status kGoingDown = {Code::unavailable, "The runner is going down"};
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
    case policy::HoldCause::places: return false;
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

Status status_of_cleaner(const supervisor::AttemptResult& result) {
  if (policy::succeeded(result.end)) return {};
  std::string why = result.reason.empty() ? policy::describe(result.end) : result.reason;
  if (result.end.outcome == policy::Outcome::exited && result.end.exit_code) {
    why = "exit status " + std::to_string(*result.end.exit_code);
  } else if (result.end.outcome == policy::Outcome::signalled && result.end.signal) {
    why = "signal: " + signal_text(*result.end.signal);
  }
  return {Code::internal, "Failed to run cleaning command: " + why};
}

}  // namespace

// One run of the command that cleans.
class Runner::Cleaning : public supervisor::AttemptObserver {
 public:
  Cleaning(supervisor::Supervisor& supervisor, supervisor::AttemptRequest request,
           IdleCleaner::Done done)
      : supervisor_(supervisor),
        done_(std::move(done)),
        attempt_(supervisor, std::move(request), *this) {
    attempt_.start();
  }

  // Destroyed when the next is made: not from within this call.
  void on_gone(const supervisor::AttemptResult& result) override {
    supervisor_.loop().poster()(
        [done = done_, status = status_of_cleaner(result)] { done(status); });
  }
  void on_stuck(const reap::Stuck& /*stuck*/) override {}

 private:
  supervisor::Supervisor& supervisor_;
  IdleCleaner::Done done_;
  supervisor::Attempt attempt_;
};

Runner::Runner(RunnerDeps deps, RunnerSettings settings)
    : deps_(std::move(deps)),
      settings_(std::make_shared<const RunnerSettings>(std::move(settings))),
      host_(supervisor::describe_host(deps_.supervisor)),
      null_input_(::open("/dev/null", O_RDONLY | O_CLOEXEC)),
      files_(deps_.supervisor.loop()),
      cleaner_([this](IdleCleaner::Done done) { clean(std::move(done)); }) {
  for (const std::string& path : settings_->cleaned_directories) {
    temporary_.push_back(std::make_shared<const TemporaryDirectory>(path));
  }
}

Runner::~Runner() = default;

RunnerHandlers Runner::handlers() {
  return {.check = [this](CallId, const std::string& path,
                          std::function<void(Status)> answer) { check(path, std::move(answer)); },
          .run =
              [this](CallId call, ActionRequest order, std::function<void(RunAnswer)> answer) {
                run(call, std::move(order), std::move(answer));
              },
          .cancel = [this](CallId call) { cancel(call); }};
}

std::string Runner::lane_of(const Action& action) const {
  return join(settings_->build_directory, action.directory);
}

Runner::Action* Runner::find(CallId call) {
  const auto found = actions_.find(call);
  return found == actions_.end() ? nullptr : found->second.get();
}

void Runner::run(CallId call, ActionRequest order, std::function<void(RunAnswer)> answer) {
  if (draining_) return answer({.status = kGoingDown});
  if (actions_.size() >= kActionsMax) {
    return answer({.status = {Code::unavailable, "The runner has too many actions already"}});
  }
  auto made = std::make_unique<Action>(*this, call, std::move(order), std::move(answer));
  Action& action = *made;
  actions_.emplace(call, std::move(made));
  enter_directory(action);
}

// An earlier action there may still be dying: what it leaves must not meet what is laid out anew.
void Runner::enter_directory(Action& action) {
  std::deque<CallId>& line = directories_[action.directory];
  line.push_back(action.call);
  if (line.size() == 1) acquire(action);
}

void Runner::leave_directory(const Action& action) {
  const auto place = directories_.find(action.directory);
  std::deque<CallId>& line = place->second;
  const bool had_it = line.front() == action.call;
  std::erase(line, action.call);
  if (line.empty()) {
    directories_.erase(place);
  } else if (had_it) {
    acquire(*find(line.front()));
  }
}

void Runner::acquire(Action& action) {
  action.stage = Stage::cleaning;
  cleaner_.acquire([this, call = action.call](Status status) {
    Action& known = *find(call);
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
  link(join(settings_->build_directory, directory), [this, call = action.call](Status linked) {
    Action& known = *find(call);
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
  files_.submit(
      lane_of(action), std::move(work),
      [this, planned, call = action.call](Status status) {
        Action& known = *find(call);
        known.refuse(std::move(status));
        if (known.cancelled) known.refuse(kCancelled);
        if (draining_) known.refuse(kGoingDown);
        if (!known.result.status.ok()) return report(known);
        known.plan = std::move(planned->plan);
        conduct(known);
      },
      FileLanes::Step::first);
}

void Runner::conduct(Action& action) {
  action.stage = Stage::conducted;
  action.job = deps_.next_id();
  if (action.order->time_left) {
    const Duration left = *action.order->time_left;
    action.hold_end = action.arrived + left - std::min(kHoldMargin, left / kHoldMarginPart);
  }
  action.hold_timer = deps_.supervisor.loop().timer([this, call = action.call] {
    if (Action* known = find(call)) end_waiting(*known);
  });
  action.hold_timer.set(std::min(loop::now() + kHoldMax, action.hold_end));
  deps_.host_scheduler.enter(action.spec_of(action.job), action);
}

bool Runner::has_waited(Duration time) const {
  const Instant now = loop::now();
  return std::any_of(actions_.begin(), actions_.end(), [&](const auto& entry) {
    return entry.second->is_waiting() && now - entry.second->arrived >= time;
  });
}

// Without memory it may never start; without cores it is only slower, so that it goes on waiting.
void Runner::end_waiting(Action& action) {
  const auto& holding = deps_.host_scheduler.scheduler().holding();
  const Instant now = loop::now();
  if (now < action.hold_end && !(holding && is_for_memory(holding->cause))) {
    return action.hold_timer.set(std::min(now + kHoldSample, action.hold_end));
  }
  give_up_waiting(action, "it has waited for long enough");
}

void Runner::give_up_waiting(Action& action, const std::string& reason) {
  const auto& holding = deps_.host_scheduler.scheduler().holding();
  const std::string why = holding ? reason + "; " + holding->reason : reason;
  // An error says that it runs, or is over.
  [[maybe_unused]] const auto ignored = deps_.host_scheduler.scheduler().withdraw(action.job, why);
}

// No process of it is left, nor its group.
void Runner::report(Action& action) {
  action.stage = Stage::reporting;
  const report::JobReport report = action.report(host_);
  deps_.log(log_line(action.name, report, action.result.status));
  if (deps_.ended) deps_.ended(report);
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
  files_.submit(lane_of(action), std::move(work),
                [this, call = action.call](const Status&) { release(*find(call)); });
}

void Runner::release(Action& action) {
  action.stage = Stage::releasing;
  --running_;
  cleaner_.release(
      [this, call = action.call](Status after) { check_after(*find(call), std::move(after)); });
}

// An error of the action's own comes before one of the cleaning after it, and both before what is
// seen to be missing last.
void Runner::check_after(Action& action, Status cleaned) {
  action.refuse(std::move(cleaned));
  if (!action.result.status.ok() || action.result.exit_code == 0) return finish(action, {});
  look_for_needed(0, [this, call = action.call](Status missing) {
    finish(*find(call),
           std::move(missing).within("One or more required files disappeared during execution: "));
  });
}

void Runner::finish(Action& action, Status last) {
  action.refuse(std::move(last));
  const auto done = actions_.extract(action.call);
  leave_directory(*done.mapped());
  done.mapped()->answer(std::move(done.mapped()->result));
}

void Runner::cancel(CallId call) {
  Action* action = find(call);
  if (action == nullptr || action->cancelled) return;
  action->cancelled = true;
  if (action->stage == Stage::directory) {
    action->refuse(kCancelled);
    return finish(*action, {});
  }
  if (action->stage != Stage::conducted) return;
  const std::string reason = "the worker does not want it any more";
  if (auto killed = deps_.host_scheduler.scheduler().kill(action->job, reason); killed) return;
  [[maybe_unused]] const auto withdrawn =
      deps_.host_scheduler.scheduler().withdraw(action->job, reason);
}

void Runner::drain() {
  draining_ = true;
  std::vector<CallId> calls;
  for (const auto& [call, action] : actions_) calls.push_back(call);
  for (const CallId call : calls) {
    Action* action = find(call);
    if (action == nullptr) continue;
    if (action->stage == Stage::directory) {
      action->refuse(kGoingDown);
      finish(*action, {});
    } else if (action->stage == Stage::conducted) {
      give_up_waiting(*action, "the runner is going down");
    }
  }
}

void Runner::kill_all(const std::string& reason) {
  drain();
  for (const auto& [call, action] : actions_) {
    if (action->stage != Stage::conducted) continue;
    action->refuse({Code::unavailable, reason});
    [[maybe_unused]] const auto killed = deps_.host_scheduler.scheduler().kill(action->job, reason);
  }
}

namespace {

// Where the links to temporary directories lead while nothing runs.
constexpr const char* kNowhere = "/nonexistent";

// What is over in a moment keeps no worker away.
bool is_for_long(policy::HoldCause cause) {
  switch (cause) {
    case policy::HoldCause::memory:
    case policy::HoldCause::alone:
    case policy::HoldCause::share:
    case policy::HoldCause::places: return true;
    case policy::HoldCause::cores:
    case policy::HoldCause::disk:
    case policy::HoldCause::pace:
    case policy::HoldCause::calm: return false;
  }
  return false;
}
}  // namespace

std::optional<std::string> Runner::why_full() const {
  const policy::Scheduler& scheduler = deps_.host_scheduler.scheduler();
  if (const auto& holding = scheduler.holding()) {
    if (is_for_long(holding->cause) || has_waited(kFullWait)) return holding->reason;
  }
  const policy::SchedulerStatus status = scheduler.status();
  if (status.frozen > 0) return std::to_string(status.frozen) + " of its jobs are paused";
  if (status.running > 0 && to_double(status.used) > to_double(status.line) * kFullShare) {
    return "its jobs use " + format_bytes(status.used) + " of " + format_bytes(status.line);
  }
  return std::nullopt;
}

// The worker asks for work only after this: to refuse is to hold an action that costs it nothing.
void Runner::check(const std::string& path, std::function<void(Status)> answer) {
  if (draining_) return answer({Code::unavailable, "The runner is going down"});
  if (const auto why = why_full()) {
    return answer({Code::unavailable, "The machine is full: " + *why});
  }
  ++checks_;
  look_for_needed(0, [this, path, answer = std::move(answer)](Status missing) {
    if (!missing.ok()) return end_check(std::move(missing), answer);
    cleaner_.acquire([this, path, answer](Status cleaned) {
      if (!cleaned.ok()) return end_check(std::move(cleaned), answer);
      look_at(path, [this, answer](Status seen) {
        cleaner_.release([this, answer, seen = std::move(seen)](const Status& after) {
          end_check(seen.ok() ? after : seen, answer);
        });
      });
    });
  });
}

// While an action runs, the links are its own.
void Runner::look_at(const std::string& path, FileLanes::Done done) {
  auto look = [this, path, done = std::move(done)](Status linked) {
    if (!linked.ok()) return done(std::move(linked));
    files_.submit(
        join(settings_->build_directory, path),
        [path, settings = settings_](FileTurn&) {
          return BuildDirectory(settings->build_directory).check(path);
        },
        done);
  };
  if (running_ > 0) return look({});
  link(kNowhere, std::move(look));
}

void Runner::link(const std::string& target, FileLanes::Done done) {
  const std::vector<std::string>& links = settings_->symlinked_temporary_directories;
  if (links.empty()) return done({});
  files_.submit(
      links.front(),
      [target, settings = settings_](FileTurn&) {
        return link_temporary_directories(settings->symlinked_temporary_directories, target);
      },
      std::move(done));
}

void Runner::look_for_needed(std::size_t next, FileLanes::Done done) {
  if (next == settings_->readiness_paths.size()) return done({});
  const std::string& path = settings_->readiness_paths[next];
  files_.submit(
      path, [path](FileTurn&) { return check_path_exists(path); },
      [this, next, done = std::move(done)](Status found) {
        if (!found.ok()) return done(std::move(found));
        look_for_needed(next + 1, done);
      });
}

void Runner::end_check(Status status, const std::function<void(Status)>& answer) {
  --checks_;
  answer(std::move(status));
}

// What an action has left is no other's error.
void Runner::clean(IdleCleaner::Done done) {
  clean_directories(0, [this, done = std::move(done)] {
    if (settings_->cleaner_command.empty()) return done({});
    run_cleaner(done);
  });
}

void Runner::clean_directories(std::size_t next, std::function<void()> done) {
  if (next == temporary_.size()) return done();
  const auto directory = temporary_[next];
  files_.submit(
      directory->path(), [directory](FileTurn& turn) { return directory->clean(turn); },
      [this, next, path = directory->path(), done = std::move(done)](const Status& cleaned) {
        tell_unclean(path, cleaned);
        clean_directories(next + 1, done);
      });
}

void Runner::tell_unclean(const std::string& path, const Status& cleaned) {
  if (cleaned.ok()) {
    unclean_.erase(path);
  } else if (std::exchange(unclean_[path], cleaned.text) != cleaned.text) {
    deps_.log(cleaned.text);
  }
}

void Runner::run_cleaner(IdleCleaner::Done done) {
  supervisor::AttemptRequest request;
  request.group = "cleaner-" + std::to_string(++cleanings_);
  request.spawn.argv = settings_->cleaner_command;
  request.spawn.env = supervisor::environment_with({});
  request.spawn.session = guardian::Session::own;
  request.spawn.descriptors = guardian::Descriptors::close;
  request.spawn.signals = guardian::Signals::set_default;
  request.spawn.stdio[0] = null_input_.get();
  cleaning_ = std::make_unique<Cleaning>(deps_.supervisor, std::move(request), std::move(done));
}

}  // namespace plimsoll::daemon
