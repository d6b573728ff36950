#include "supervisor/host_scheduler.h"

#include <algorithm>

#include "base/check.h"
#include "base/quantity.h"

namespace plimsoll::supervisor {

HostScheduler::HostScheduler(RunHost& host, policy::Estimator& estimator,
                             policy::SchedulerConfig config, HostSchedulerObserver& observer)
    : host_(host),
      reserve_(config.governor.reserve),
      line_(config.governor.line),
      cores_(config.governor.cores),
      disks_(config.governor.disks),
      observer_(observer),
      system_(host.loop()),
      scheduler_(std::move(config), estimator, this),
      executor_(host, system_, scheduler_, *this) {}

HostScheduler::~HostScheduler() = default;

void HostScheduler::enter(const policy::JobSpec& job, JobOwner& owner, std::optional<Bytes> input) {
  executor_.enter(job.id, owner);
  scheduler_.enter(job, input);
}

// The present line may be but a share of it.
policy::JobSpec HostScheduler::within_reach(const policy::JobSpec& job) const {
  return policy::within_reach(job, std::max(line_, scheduler_.line()), cores_);
}

void HostScheduler::enter_external(const policy::JobSpec& job, JobOwner& owner) {
  PLIMSOLL_CHECK(external_executor_ != nullptr);
  executor_.enter_external(job.id, owner, *external_executor_);
  scheduler_.enter(job);
}

monitor::Bounds HostScheduler::bounds() const { return {scheduler_.line(), reserve_}; }

// Every one is in the report (PoolLimitsReport); on a busy machine there are many that nobody
// notices.
constexpr Duration kStallTold = std::chrono::seconds(1);

void HostScheduler::on_stall(Duration stalled) {
  if (stalled < kStallTold) return;
  on_notice("Plimsoll did not respond for " + format_duration(stalled) +
            "; its jobs were paused meanwhile");
}

void HostScheduler::begin() {
  StallObserver& stalls = *this;
  pool_limits_ = std::make_unique<PoolLimits>(host_, scheduler_.line(), stalls);
  if (disks_.empty()) return scheduler_.begin(executor_);
  scheduler_.begin(executor_, executor_.watch(disks_));
}

Result<void> HostScheduler::run_once(Duration timeout) {
  auto ran = host_.run_once(timeout);
  executor_.collect();
  return ran;
}

void HostScheduler::suspend_all() {
  // First: from then on the guardian thaws nothing that it may hold.
  pool_limits_->lift();
  host_.freeze_all();
  executor_.suspend_all();
}

void HostScheduler::resume_all() {
  host_.thaw_all();
  pool_limits_->restore();
  executor_.resume_all();
}

void HostScheduler::on_event(const policy::Event& event) {
  if (event.kind == policy::EventKind::line && pool_limits_) {
    for (const auto& [name, value] : event.numbers) {
      if (name == "line_bytes") pool_limits_->set_line(to_bytes(value));
    }
  }
  observer_.on_scheduler_event(event);
  if (!event.job) return;
  if (JobOwner* owner = executor_.owner_of(*event.job)) owner->on_event(event);
}

void HostScheduler::on_job_over(const policy::JobOver& over) { executor_.job_over(over); }

void HostScheduler::on_learnt(const policy::AttemptSummary& attempt) {
  observer_.on_learnt(attempt);
}

}  // namespace plimsoll::supervisor
