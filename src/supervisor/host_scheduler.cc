#include "supervisor/host_scheduler.h"

#include <algorithm>

#include "base/check.h"
#include "base/quantity.h"
#include "policy/governor/within_reach.h"
#include "supervisor/reporting.h"

namespace plimsoll::supervisor {

// Sends what is decided about a job to where it runs.
class HostScheduler::ExecutorRouter : public policy::Executor {
 public:
  explicit ExecutorRouter(HostScheduler& host_scheduler) : host_scheduler_(host_scheduler) {}

  [[nodiscard]] Instant now() const override { return host_scheduler_.executor_.now(); }
  void start(const policy::Start& start) override {
    if (host_scheduler_.is_external(start.job)) {
      ++host_scheduler_.external_running_;
      host_scheduler_.watch_external();
    }
    side_of(start.job).start(start);
  }
  void freeze(JobId job) override { side_of(job).freeze(job); }
  void thaw(JobId job) override { side_of(job).thaw(job); }
  void reclaim(std::optional<JobId> job, Bytes amount) override {
    if (job) return side_of(*job).reclaim(job, amount);
    host_scheduler_.executor_.reclaim(job, amount);
  }
  void kill(JobId job, policy::Outcome cause, std::string reason) override {
    side_of(job).kill(job, cause, std::move(reason));
  }
  void wake_at(std::optional<Instant> when) override { host_scheduler_.executor_.wake_at(when); }

 private:
  policy::Executor& side_of(JobId job) {
    if (host_scheduler_.is_external(job)) return *host_scheduler_.external_executor_;
    return host_scheduler_.executor_;
  }

  HostScheduler& host_scheduler_;
};

HostScheduler::HostScheduler(Supervisor& supervisor, policy::Estimator& estimator,
                             policy::SchedulerConfig config, HostSchedulerObserver observer)
    : supervisor_(supervisor),
      reserve_(config.governor.reserve),
      line_(config.governor.line),
      cores_(config.governor.cores),
      observer_(std::move(observer)),
      system_(supervisor),
      scheduler_(std::move(config), estimator, this),
      executor_(
          supervisor, system_, scheduler_,
          {.prepare = [this](const policy::Start& start) { return prepare(start); },
           .over = [this](AttemptKey key, const policy::AttemptEnd&) { on_over(key); },
           .gone = [this](AttemptKey key, const AttemptResult& result) { on_gone(key, result); },
           .stuck =
               [this](AttemptKey key, const reap::Stuck& stuck) {
                 charge_of(key.job).owner->on_stuck(key, stuck);
               },
           .bounds = [this] { return monitor::Bounds{scheduler_.line(), reserve_}; },
           .weakened = [this](const monitor::Status& status) { notice(text_of(status)); }}),
      router_(std::make_unique<ExecutorRouter>(*this)) {
  system_.on_sample([this](const counters::SystemSample& sample) {
    for (auto& [key, span] : spans_) span.observe(sample);
  });
}

HostScheduler::~HostScheduler() = default;

void HostScheduler::enter(const policy::JobSpec& job, JobOwner& owner, std::optional<Bytes> input) {
  const auto [place, is_new] = charges_.emplace(job.id, Charge{.owner = &owner});
  PLIMSOLL_CHECK(is_new);
  scheduler_.enter(job, input);
}

// The present line may be but a share of it.
policy::JobSpec HostScheduler::within_reach(const policy::JobSpec& job) const {
  return policy::within_reach(job, std::max(line_, scheduler_.line()), cores_);
}

void HostScheduler::enter_external(const policy::JobSpec& job, JobOwner& owner) {
  PLIMSOLL_CHECK(external_executor_ != nullptr);
  const auto [place, is_new] =
      charges_.emplace(job.id, Charge{.owner = &owner, .is_external = true});
  PLIMSOLL_CHECK(is_new);
  scheduler_.enter(job);
}

void HostScheduler::external_sampled(JobId job, const policy::JobSample& sample) {
  if (!is_external(job)) return;
  external_uses(job, sample.used);
  scheduler_.on_job(job, sample);
}

void HostScheduler::external_over(JobId job, const policy::AttemptEnd& end) {
  if (!is_external(job)) return;
  --external_running_;
  watch_external();
  external_uses(job, {});
  scheduler_.on_over(job, end);
}

bool HostScheduler::is_external(JobId job) const {
  const auto found = charges_.find(job);
  return found != charges_.end() && found->second.is_external;
}

// Their memory is in no counter of the pool's.
void HostScheduler::external_uses(JobId job, Bytes used) {
  Charge& charge = charge_of(job);
  external_used_ = external_used_ - charge.used + used;
  charge.used = used;
  executor_.external_use(external_used_);
}

void HostScheduler::watch_external() { executor_.watch_for_external(external_running_); }

// Every one is in the report (PoolLimitsReport); on a busy machine there are many that nobody
// notices.
constexpr Duration kStallTold = std::chrono::seconds(1);

void HostScheduler::begin() {
  pool_limits_ =
      std::make_unique<PoolLimits>(supervisor_, scheduler_.line(), [this](Duration stalled) {
        if (stalled < kStallTold) return;
        notice("Plimsoll did not respond for " + format_duration(stalled) +
               "; its jobs were paused meanwhile");
      });
  scheduler_.begin(*router_);
}

Result<void> HostScheduler::run_once(Duration timeout) {
  auto ran = supervisor_.run_once(timeout);
  executor_.collect();
  return ran;
}

void HostScheduler::suspend_all() {
  // First: from then on the guardian thaws nothing that it may hold.
  pool_limits_->lift();
  supervisor_.freeze_all();
  executor_.suspend_all();
}

void HostScheduler::resume_all() {
  supervisor_.thaw_all();
  pool_limits_->restore();
  executor_.resume_all();
}

Prepared HostScheduler::prepare(const policy::Start& start) {
  Charge& charge = charge_of(start.job);
  spans_.emplace(AttemptKey{start.job, start.attempt}, counters::MachineSpan(system_.now()));
  ++charge.groups;
  return charge.owner->prepare(start);
}

void HostScheduler::on_event(const policy::Event& event) {
  if (event.kind == policy::EventKind::line && pool_limits_) {
    for (const auto& [name, value] : event.numbers) {
      if (name == "line_bytes") pool_limits_->set_line(to_bytes(value));
    }
  }
  if (observer_.event) observer_.event(event);
  if (!event.job) return;
  const auto found = charges_.find(*event.job);
  if (found != charges_.end()) found->second.owner->on_event(event);
}

void HostScheduler::on_over(AttemptKey key) {
  spans_.at(key).observe(system_.now());
  charge_of(key.job).owner->on_over(key);
}

void HostScheduler::on_job_over(const policy::JobOver& over) {
  Charge& charge = charge_of(over.job);
  charge.ended = !over.requeue;
  charge.owner->on_job_over(over);
  forget_if_done(over.job);
}

void HostScheduler::on_learnt(const policy::AttemptSummary& attempt) {
  if (observer_.learnt) observer_.learnt(attempt);
}

void HostScheduler::on_gone(AttemptKey key, const AttemptResult& result) {
  Charge& charge = charge_of(key.job);
  if (const auto text = got_away_text(result.left_behind); !text.empty()) notice(text);
  if (result.group_left) notice(left_group_text(*result.group_left));
  --charge.groups;
  const auto span = spans_.extract(key);
  charge.owner->on_gone({.key = key, .result = result, .machine = span.mapped().usage()});
  forget_if_done(key.job);
}

void HostScheduler::forget_if_done(JobId job) {
  const Charge& charge = charge_of(job);
  if (charge.ended && charge.groups == 0) charges_.erase(job);
}

void HostScheduler::notice(const std::string& text) {
  if (observer_.notice) observer_.notice(text);
}

}  // namespace plimsoll::supervisor
