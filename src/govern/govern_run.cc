#include "govern/govern_run.h"

#include <signal.h>
#include <unistd.h>
#include <algorithm>

#include <utility>

#include "base/quantity.h"
#include "base/text.h"
#include "policy/job/attempt.h"
#include "report/plain.h"
#include "supervisor/light/light_protocol.h"
#include "supervisor/reporting.h"
#include "supervisor/run/run_summary.h"

namespace plimsoll::govern {
namespace {

using policy::Outcome;

bool was_for_memory(Outcome outcome) {
  return outcome == Outcome::evicted || outcome == Outcome::over_line ||
         outcome == Outcome::machine_oom;
}

// What tells a `plimsoll govern` below that its command is governed already.
constexpr const char* kRunVariable = "PLIMSOLL_GOVERN";

}  // namespace

std::string watching_text(const std::string& why) {
  return "cannot hear when programs are executed: " + why +
         "; steps are found by looking at processes, up to 50 ms late";
}

GovernRun::GovernRun(supervisor::Supervisor& supervisor, policy::Estimator& estimator,
                     GovernConfig config, GovernObserver& observer)
    : supervisor_(supervisor),
      config_(std::move(config)),
      observer_(observer),
      drivers_(config_.drivers),
      host_scheduler_(supervisor, estimator, config_.scheduler, *this),
      steps_(supervisor, host_scheduler_, drivers_, *this),
      guardian_watch_(supervisor.loop(), [this](const std::string& text) { on_notice(text); }) {
  if (config_.drivers_first) steps_.put_drivers_first();
  // Nobody runs a step again: of one of which nothing is known it is believed that it may take all
  // of the line, not that a few fit side by side.
  estimator.expect_below(
      to_bytes(to_double(config_.scheduler.governor.line) * policy::kUnknownBeside));
  config_.command.env.emplace_back(kRunVariable, config_.run_id);
  // Set in any case, as it may be that of a run that this one is part of.
  config_.command.env.emplace_back(supervisor::kLightVariable, config_.light_socket);
  if (config_.jobserver) {
    TokenBasis& basis = *this;
    jobserver_.emplace(supervisor.loop(), std::move(*config_.jobserver), basis);
    config_.jobserver.reset();
  }
  summary_.run = config_.run_id;
  summary_.oom_kills = 0;
}

GovernRun::~GovernRun() = default;

Result<void> GovernRun::hear_launchers() {
  return config_.light_socket.empty() ? Result<void>() : steps_.listen(config_.light_socket);
}

Result<GovernEnd> GovernRun::run() {
  const Instant begun = supervisor_.now();
  summary_.started = begun;
  host_scheduler_.begin();
  supervisor_.tell_signals(this);
  Result<supervisor::AttemptResult> ended = execute(1);
  while (ended && is_to_run_again(*ended)) {
    ++reruns_;
    on_notice("running the command again (" + std::to_string(reruns_) + " of " +
              std::to_string(config_.reruns) + "): " + counted(killed_, "step was", "steps were") +
              " killed for want of memory");
    ended = execute(1 + reruns_);
  }
  supervisor_.tell_signals(nullptr);
  add_pool_limits(summary_, host_scheduler_.wall(), supervisor_.pool());
  host_scheduler_.end();
  if (!ended) return pass(std::move(ended));
  add_figures(summary_, host_scheduler_);
  summary_.makespan = supervisor_.now() - begun;
  summary_.line = config_.scheduler.governor.line;
  summary_.jobs = steps_.counts().begun;
  summary_.command = report_of(*ended);
  if (!has_steps()) summary_.cpu_usage = ended->usage.totals.cpu.usage;
  return GovernEnd{.command = std::move(*ended), .summary = std::move(summary_)};
}

report::CommandReport GovernRun::report_of(const supervisor::AttemptResult& ended) const {
  return {.outcome = ended.end.outcome,
          .exit_code = ended.end.exit_code,
          .signal = ended.end.signal,
          .reason = ended.reason,
          .small_steps = steps_.counts().small,
          .held_steps = steps_.counts().held,
          .killed_steps = killed_in_all_,
          .steps_again = steps_.counts().again,
          .reruns = reruns_,
          .tokens_recovered = jobserver_ ? jobserver_->recovered() : 0,
          .why_whole = config_.why_whole.value_or(""),
          .why_watched = config_.why_unheard.value_or("")};
}

bool GovernRun::is_to_run_again(const supervisor::AttemptResult& result) const {
  const auto* argv = std::get_if<Words>(&config_.command.command);
  const bool failed = result.end.outcome == Outcome::exited && result.end.exit_code != 0;
  return failed && killed_ > 0 && reruns_ < config_.reruns && argv != nullptr && resumes(*argv) &&
         !supervisor_.asked_to_end();
}

// Who listens may turn out to be blind, and watches then.
Result<void> GovernRun::find_execs(std::shared_ptr<supervisor::Place> drivers) {
  if (watcher_ == nullptr) {
    auto watcher = ExecWatcher::create(
        {.loop = supervisor_.loop(), .guardian = ::getppid(), .families = supervisor_.families()},
        steps_);
    if (!watcher) return pass(std::move(watcher));
    watcher_ = std::move(*watcher);
  }
  if (config_.why_unheard) {
    watcher_->begin();
  } else {
    auto listener = ExecListener::create(supervisor_.loop(), steps_);
    if (!listener) return pass(std::move(listener));
    listener_ = std::move(*listener);
  }
  steps_.begin(listener_.get(), std::move(drivers));
  return {};
}

void GovernRun::on_blind(const Error& why) {
  on_notice(watching_text(why.message()));
  config_.why_unheard = why.message();
  watcher_->begin();
}

Result<supervisor::AttemptRequest> GovernRun::request(unsigned number) {
  const std::string name = "drivers-" + std::to_string(number);
  auto request = supervisor::request_for(config_.command, name, std::nullopt);
  auto place = steps_.make_drivers(name);
  if (!place) return pass(std::move(place));
  if (config_.drivers_first) supervisor_.prefer(**place);
  if (has_steps()) {
    if (auto found = find_execs(*place); !found) return pass(std::move(found));
  }
  request.standing.emplace(
      supervisor::StandingPlace{.place = std::move(*place), .process = std::nullopt});
  return request;
}

Result<supervisor::AttemptResult> GovernRun::execute(unsigned number) {
  killed_ = 0;
  result_.reset();
  auto request = this->request(number);
  if (!request) return pass(std::move(request));
  UniqueFd child_end;  // open until the request is on its way
  if (listener_ != nullptr) child_end = listener_->take_child_end();
  if (child_end) request->spawn.exec_listener = child_end.get();
  request->spawn.stdio[STDOUT_FILENO] = config_.standard_output;
  const guardian::Session session = request->spawn.session;
  supervisor::AttemptObserver& told = *this;
  attempt_ = std::make_unique<supervisor::Attempt>(supervisor_, std::move(*request), told);
  relay_.emplace(supervisor_, *attempt_, session);
  if (jobserver_) jobserver_->begin();
  attempt_->start();
  child_end = {};
  auto ran = turn_until_gone();
  if (jobserver_) jobserver_->end();
  relay_.reset();
  attempt_.reset();
  if (watcher_ != nullptr) watcher_->end();
  if (!ran) return pass(std::move(ran));
  listener_.reset();
  return std::move(*result_);
}

Result<void> GovernRun::turn_until_gone() {
  while (!result_ || !steps_.is_idle() || !host_scheduler_.is_idle()) {
    if (auto ran = host_scheduler_.run_once(Duration(-1)); !ran) return ran;
  }
  return {};
}

// Nothing of it is to run on.
void GovernRun::on_over(const policy::AttemptEnd& /*end*/) {
  steps_.end_all("the command has ended");
  const auto& left = still_running_;
  if (left.empty() || supervisor_.asked_to_end()) return;
  constexpr std::size_t kNamed = 3;
  std::string text = counted(left.size(), "step", "steps") +
                     " still ran when the command had ended, and " +
                     (left.size() == 1 ? "was" : "were") + " killed: ";
  for (std::size_t i = 0; i < left.size() && i < kNamed; ++i) {
    text += (i == 0 ? "" : "; ") + report::printable(left[i].command);
  }
  on_notice(text + (left.size() > kNamed ? "; ..." : ""));
}

// Of the steps among what it has left running on_over() has told.
void GovernRun::on_gone(const supervisor::AttemptResult& result) {
  result_ = result;
  std::erase_if(result_->left_behind, [this](const report::LeftBehind& process) {
    if (process.fate == report::LeftFate::lives) return false;
    return std::any_of(still_running_.begin(), still_running_.end(),
                       [&](const RunningStep& step) { return step.pid == process.pid; });
  });
  still_running_.clear();
}

void GovernRun::on_stuck(const reap::Stuck& stuck) {
  on_notice("the command: " + supervisor::stuck_text(stuck));
}

// Who is asked to end does so only while it is not frozen.
void GovernRun::on_signal(const guardian::Signalled& signal) {
  if (guardian::asks_to_end(signal.number)) steps_.release_held();
  const bool stops = signal.number == SIGTSTP;
  if (stops && !std::exchange(is_stopped_, true)) {
    if (watcher_ != nullptr) watcher_->end();
    host_scheduler_.suspend_all();
    guardian_watch_.pause();
  }
  if (relay_) relay_->on_signal(signal);
}

void GovernRun::on_resumed() {
  if (std::exchange(is_stopped_, false)) {
    guardian_watch_.resume();
    host_scheduler_.resume_all();
    // `fg` has continued all that are of the terminal's process group.
    if (supervisor::Families* families = supervisor_.families()) families->measure(loop::now());
    if (config_.why_unheard && watcher_ != nullptr) watcher_->begin();
  }
  if (relay_) relay_->on_resumed();
}

void GovernRun::on_step_ended(const policy::JobSpec& step, const report::JobReport& report) {
  count(report);
  if (was_for_memory(report.outcome)) {
    ++killed_;
    ++killed_in_all_;
    const Bytes peak = report.attempts.back().peak.value_or(Bytes{});
    on_notice("killed for memory at " + format_bytes(peak) + " (the line is " +
              format_bytes(host_scheduler_.scheduler().line()) +
              "): " + report::printable(policy::command_line(step.command)) + "; " + report.reason);
  }
  observer_.on_step_ended(step, report);
}

Slots GovernRun::slots() const {
  return slots_of(host_scheduler_.scheduler().status(), steps_.small());
}

// Until the guardian has said who it is, nobody else is there to be told of.
bool GovernRun::is_command(int pid) const {
  if (attempt_ == nullptr) return false;
  const pid_t main = attempt_->main();
  return main == 0 || main == pid;
}

void GovernRun::on_missed(const std::vector<procfs::Id>& processes) {
  if (watcher_ != nullptr) watcher_->tell_again(processes);
}

// Of whoever is only looked for not all are seen.
std::optional<std::size_t> GovernRun::token_holders() {
  if (!has_steps() || config_.why_unheard) return std::nullopt;
  return steps_.token_holders();
}

void GovernRun::count(const report::JobReport& report) {
  ++summary_.outcomes[report.outcome];
  if (report.outcome == Outcome::exited && report.exit_code.value_or(0) == 0) ++summary_.succeeded;
  if (!report.usage) return;
  const counters::Sample& totals = report.usage->totals;
  if (totals.cpu.usage) {
    summary_.cpu_usage = summary_.cpu_usage.value_or(Duration{}) + *totals.cpu.usage;
  }
  *summary_.oom_kills += supervisor::oom_kills_of(totals.memory.events);
}

}  // namespace plimsoll::govern
