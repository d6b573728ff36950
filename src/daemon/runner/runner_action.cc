#include "daemon/runner/runner_action.h"

#include <filesystem>

#include "base/quantity.h"
#include "base/text.h"
#include "supervisor/reporting.h"
#include "supervisor/wall_clock.h"

namespace plimsoll::daemon {
namespace {

// Set by a client for an action, to say what it knows of it; left in its environment.
constexpr std::string_view kClassVariable = "PLIMSOLL_CLASS";
constexpr std::string_view kMemoryVariable = "PLIMSOLL_MEMORY_HINT";
constexpr std::string_view kCpuVariable = "PLIMSOLL_CPU_HINT";
constexpr std::size_t kClassBytesMax = 256;

bool is_told(policy::EventKind kind) {
  switch (kind) {
    case policy::EventKind::held:
    case policy::EventKind::started:
    case policy::EventKind::frozen:
    case policy::EventKind::thawed:
    case policy::EventKind::reclaimed:
    case policy::EventKind::evicted:
    case policy::EventKind::failed: return true;
    case policy::EventKind::queued:
    case policy::EventKind::admitted:
    case policy::EventKind::requeued:
    case policy::EventKind::ended:
    case policy::EventKind::alarm:
    case policy::EventKind::line: return false;
  }
  return false;
}

}  // namespace

Runner::Action::Action(Runner& runner, CallId call_id, ActionRequest action_request,
                       WorkerCall& worker_call)
    : id(call_id),
      order(std::make_shared<const ActionRequest>(std::move(action_request))),
      call(worker_call),
      name(order->input_root.empty() ? "action" : order->input_root),
      directory((std::filesystem::path(order->input_root) / "").lexically_normal().string()),
      arrived(runner.deps_.clock.now()),
      runner_(runner),
      queued_(supervisor::wall_now()) {}

policy::JobSpec Runner::Action::spec_of(JobId job_id) const {
  policy::JobSpec spec;
  spec.id = job_id;
  spec.name = name;
  spec.command = order->arguments;
  spec.cwd = plan.spawn.cwd;
  // The worker's client decides whether it is tried again.
  spec.restarts = 0;
  for (const auto& [variable, value] : order->environment) {
    if (variable == kClassVariable && value.size() <= kClassBytesMax) spec.job_class = value;
    if (variable == kMemoryVariable) {
      if (const auto bytes = parse_bytes(value)) spec.memory_hint = *bytes;
    }
    if (variable == kCpuVariable) {
      if (const auto cores = to_double(value); cores && *cores > 0) spec.cpu_hint = *cores;
    }
  }
  return spec;
}

supervisor::Prepared Runner::Action::prepare(const policy::Start& start) {
  hold_timer.reset();
  started_ = runner_.deps_.clock.now();
  supervisor::Prepared prepared;
  prepared.request.group = "job-" + std::to_string(static_cast<std::uint64_t>(start.job));
  prepared.request.spawn = std::move(plan.spawn);
  prepared.request.spawn.stdio = {runner_.null_input_.get(), plan.out.get(), plan.err.get()};
  prepared.out = std::move(plan.out);
  prepared.err = std::move(plan.err);
  return prepared;
}

void Runner::Action::on_event(const policy::Event& event) {
  if (!is_told(event.kind) || story_.size() >= kStoryMax) return;
  story_.push_back(format_duration(runner_.deps_.clock.now() - arrived) + ": " +
                   std::string(name_of(event.kind)) + ": " + event.reason);
}

void Runner::Action::on_job_over(const policy::JobOver& over) {
  reason_ = over.reason;
  if (over.end) return;  // on_gone() follows
  refuse({Code::unavailable, "The machine has no room for the action: " + over.reason});
  runner_.report(*this);
}

void Runner::Action::on_gone(const supervisor::AttemptGone& gone) {
  attempt_ = gone.result;
  machine_ = gone.machine;
  outcome_ = gone.result.end.outcome;
  reason_ = gone.result.reason;
  // Who has killed it has said why.
  const Status refused = result.status;
  result = answer_of(gone.result);
  if (!refused.ok()) result.status = refused;
  runner_.report(*this);
}

void Runner::Action::on_stuck(supervisor::AttemptKey /*key*/, const reap::Stuck& stuck) {
  runner_.deps_.reporter.notice("action " + name + ": " + supervisor::stuck_text(stuck));
}

report::JobReport Runner::Action::report(const report::HostInfo& host) const {
  const policy::JobSpec spec = spec_of(job);
  supervisor::JobEnd end{.job = spec,
                         .queued = queued_,
                         .held = started_.value_or(runner_.deps_.clock.now()) - arrived,
                         .paused = attempt_ ? attempt_->paused : Duration{},
                         .attempts = {},
                         .last = nullptr,
                         .outcome = outcome_,
                         .reason = reason_.empty() ? result.status.text : reason_,
                         .machine = machine_};
  if (attempt_) {
    end.attempts.push_back(supervisor::short_report_of(*attempt_));
    end.last = &*attempt_;
  }
  return supervisor::report_of(end, host);
}

std::string Runner::Action::story() const {
  std::string text;
  for (const std::string& line : story_) text += line + "\n";
  if (story_.size() == kStoryMax) text += "...\n";
  return text;
}

}  // namespace plimsoll::daemon
