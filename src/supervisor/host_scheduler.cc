#include "supervisor/host_scheduler.h"

#include <algorithm>

#include "base/check.h"
#include "base/quantity.h"
#include "policy/governor/within_reach.h"

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

HostScheduler::HostScheduler(RunHost& host, policy::Estimator& estimator,
                             policy::SchedulerConfig config, HostSchedulerObserver& observer)
    : host_(host),
      reserve_(config.governor.reserve),
      line_(config.governor.line),
      cores_(config.governor.cores),
      observer_(observer),
      system_(host.loop()),
      scheduler_(
          std::move(config), estimator,
          {.event = [this](const policy::Event& event) { on_event(event); },
           .over = [this](const policy::JobOver& over) { on_job_over(over); },
           .learnt = [this](const policy::AttemptSummary& what) { observer_.on_learnt(what); }}),
      executor_(host, system_, scheduler_, *this),
      router_(std::make_unique<ExecutorRouter>(*this)) {}

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
  const auto [place, is_new] = external_.emplace(job.id, ExternalRecord{.owner = &owner});
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

JobOwner* HostScheduler::owner_of(JobId job) const {
  const auto found = external_.find(job);
  return found == external_.end() ? executor_.owner_of(job) : found->second.owner;
}

monitor::Bounds HostScheduler::bounds() const { return {scheduler_.line(), reserve_}; }

// Their memory is in no counter of the pool's.
void HostScheduler::external_uses(JobId job, Bytes used) {
  ExternalRecord& record = external_.at(job);
  external_used_ = external_used_ - record.used + used;
  record.used = used;
  executor_.external_use(external_used_);
}

void HostScheduler::watch_external() { executor_.watch_for_external(external_running_); }

// Every one is in the report (PoolLimitsReport); on a busy machine there are many that nobody
// notices.
constexpr Duration kStallTold = std::chrono::seconds(1);

void HostScheduler::on_stall(Duration stalled) {
  if (stalled < kStallTold) return;
  on_notice("Plimsoll could not run for " + format_duration(stalled) +
            "; its jobs were paused for that time");
}

void HostScheduler::begin() {
  StallObserver& stalls = *this;
  pool_limits_ = std::make_unique<PoolLimits>(host_, scheduler_.line(), stalls);
  scheduler_.begin(*router_);
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
  if (JobOwner* owner = owner_of(*event.job)) owner->on_event(event);
}

void HostScheduler::on_job_over(const policy::JobOver& over) {
  const auto found = external_.find(over.job);
  if (found == external_.end()) return executor_.job_over(over);
  found->second.owner->on_job_over(over);
  if (!over.requeue) external_.erase(over.job);
}

}  // namespace plimsoll::supervisor
