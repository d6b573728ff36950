#include "supervisor/host_executor.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "kernel/cgroup/limits.h"
#include "supervisor/capacity.h"
#include "supervisor/host_attempt.h"
#include "supervisor/reporting.h"

namespace plimsoll::supervisor {
namespace {

// As many of those as there are jobs are reckoned with (kDescriptorsPerJob).
std::size_t removals_by_descriptors() {
  const auto limit = descriptor_limit();
  if (!limit) return HostExecutor::kRemovalsMax;
  return std::min<std::size_t>(HostExecutor::kRemovalsMax, jobs_by_descriptors(*limit));
}

}  // namespace

HostExecutor::HostExecutor(RunHost& host, SystemRecord& system, policy::ExecutorObserver& scheduler,
                           HostExecutorObserver& observer)
    : host_(host),
      system_(system),
      scheduler_(scheduler),
      observer_(observer),
      pool_(host.pool(), host.families()),
      removals_max_(removals_by_descriptors()),
      wake_timer_(host.timer([this] { scheduler_.on_wake(); })),
      watcher_({.loop = host.loop(), .worker = host.worker(), .pool = host.pool()}, *this),
      looks_timer_(host.timer([this] { look_at_rest(); })),
      oom_timer_(host.timer([this] { check_ooms(); })) {
  host_.oom().tell(this);
  system_.tell(this);
}

HostExecutor::~HostExecutor() {
  host_.oom().tell(nullptr);
  system_.tell(nullptr);
}

void HostExecutor::on_pool_oom() {
  oom_checks_left_ = kOomChecks;
  oom_timer_->set(host_.now());
}

void HostExecutor::on_system_sample(const counters::SystemSample& sample) {
  for (auto& [key, record] : attempts_) record->span.observe(sample);
}

void HostExecutor::collect() { finished_.clear(); }

void HostExecutor::enter(JobId job, const JobRecord& record) {
  const auto [place, is_new] = jobs_.emplace(job, record);
  PLIMSOLL_CHECK(is_new);
}

HostExecutor::JobRecord* HostExecutor::external(JobId job) {
  const auto found = jobs_.find(job);
  return found == jobs_.end() || found->second.elsewhere == nullptr ? nullptr : &found->second;
}

policy::Executor* HostExecutor::elsewhere_of(JobId job) {
  const JobRecord* record = external(job);
  return record == nullptr ? nullptr : record->elsewhere;
}

void HostExecutor::external_sampled(JobId job, const policy::JobSample& sample) {
  JobRecord* record = external(job);
  if (record == nullptr) return;
  external_uses(*record, sample.used);
  scheduler_.on_job(job, sample);
}

void HostExecutor::external_over(JobId job, const policy::AttemptEnd& end) {
  JobRecord* record = external(job);
  if (record == nullptr) return;
  --external_jobs_;
  watch_external();
  external_uses(*record, {});
  look_after_writer(end);
  scheduler_.on_over(job, end);
}

void HostExecutor::external_uses(JobRecord& job, Bytes used) {
  external_used_ = external_used_ - std::exchange(job.used, used) + used;
}

// Memory is watched for them too.
void HostExecutor::watch_external() {
  if (!is_watching()) return stop_watching();
  if (!stopped_at_) start_watching();
}

void HostExecutor::enter(JobId job, JobOwner& owner) { enter(job, JobRecord{.owner = &owner}); }

void HostExecutor::enter_external(JobId job, JobOwner& owner, policy::Executor& elsewhere) {
  enter(job, JobRecord{.owner = &owner, .elsewhere = &elsewhere});
}

JobOwner* HostExecutor::owner_of(JobId job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? nullptr : found->second.owner;
}

std::shared_ptr<const cgroup::Group> HostExecutor::group_of(JobId job) const {
  const auto found = jobs_.find(job);
  if (found == jobs_.end() || found->second.running == nullptr) return nullptr;
  return found->second.running->attempt.group();
}

void HostExecutor::job_over(const policy::JobOver& over) {
  JobRecord& job = jobs_.at(over.job);
  job.ended = !over.requeue;
  job.owner->on_job_over(over);
  forget_if_done(over.job);
}

void HostExecutor::forget_if_done(JobId job) {
  const auto found = jobs_.find(job);
  if (found->second.ended && found->second.attempts == 0) jobs_.erase(found);
}

Instant HostExecutor::now() const { return stopped_at_.value_or(host_.job_clock()) - stood_still_; }

Attempt* HostExecutor::running(JobId job) {
  const auto found = jobs_.find(job);
  const bool runs = found != jobs_.end() && found->second.running != nullptr;
  return runs ? &found->second.running->attempt : nullptr;
}

std::vector<HostExecutor::AttemptRecord*> HostExecutor::all_running() {
  std::vector<AttemptRecord*> all;
  for (auto& [key, record] : attempts_) {
    if (!record->is_over) all.push_back(record.get());
  }
  return all;
}

void HostExecutor::start(const policy::Start& start) {
  JobRecord& job = jobs_.at(start.job);
  if (job.elsewhere != nullptr) {
    ++external_jobs_;
    watch_external();
    return job.elsewhere->start(start);
  }
  Prepared prepared = job.owner->prepare(start);
  prepared.request.sampled_for = SampledFor::decisions;
  const AttemptKey key{start.job, start.attempt};
  auto made = std::make_unique<AttemptRecord>(*this, key, std::move(prepared.request));
  Attempt& attempt = made->attempt;
  job.running = made.get();
  ++job.attempts;
  attempts_.emplace(key, std::move(made));
  ++running_;
  if (prepared.refusal) {
    attempt.refuse(std::move(*prepared.refusal));
  } else {
    attempt.start();
  }
  // The end of another may be told when all stand still already.
  if (stopped_at_) return attempt.suspend();
  start_watching();
}

void HostExecutor::freeze(JobId job) {
  if (policy::Executor* elsewhere = elsewhere_of(job)) return elsewhere->freeze(job);
  if (Attempt* attempt = running(job)) attempt->freeze();
}

void HostExecutor::thaw(JobId job) {
  if (policy::Executor* elsewhere = elsewhere_of(job)) return elsewhere->thaw(job);
  if (Attempt* attempt = running(job)) attempt->thaw();
}

// The write lasts as long as the reclaim: not on the loop's thread.
void HostExecutor::reclaim(std::optional<JobId> job, Bytes amount) {
  policy::Executor* elsewhere = job ? elsewhere_of(*job) : nullptr;
  if (elsewhere != nullptr) return elsewhere->reclaim(job, amount);
  const auto group = job ? group_of(*job) : nullptr;
  if (job && group == nullptr) return;
  const cgroup::Directory* memory = (job ? *group : host_.pool()).of(cgroup::Controller::memory);
  if (memory == nullptr) return;
  auto handle = memory->clone();
  if (!handle) return;
  auto shared = std::make_shared<cgroup::Directory>(std::move(*handle));
  host_.slow_worker().submit(
      [shared, amount] {
        // What can't be had back shows in the samples.
        [[maybe_unused]] const auto ignored = cgroup::reclaim(*shared, amount);
      },
      [] {});
}

void HostExecutor::kill(JobId job, policy::Outcome cause, std::string reason) {
  if (policy::Executor* elsewhere = elsewhere_of(job)) {
    return elsewhere->kill(job, cause, std::move(reason));
  }
  Attempt* attempt = running(job);
  if (attempt == nullptr) return;
  if (cause == policy::Outcome::timed_out) {
    attempt->time_out(std::move(reason));
  } else {
    attempt->kill(cause, std::move(reason));
  }
}

void HostExecutor::look_soon() {
  looks_asked_at_ = host_.now();
  if (!stopped_at_) looks_timer_->set(looks_asked_at_);
}

void HostExecutor::wake_at(std::optional<Instant> when) {
  wake_ = when;
  if (wake_ && !stopped_at_) {
    wake_timer_->set(host_.on_loop_clock(*wake_ + stood_still_));
  } else {
    wake_timer_->off();
  }
}

void HostExecutor::suspend_all() {
  if (stopped_at_) return;
  stopped_at_ = host_.job_clock();
  for (AttemptRecord* record : all_running()) record->attempt.suspend();
  stop_watching();
  wake_timer_->off();
}

void HostExecutor::resume_all() {
  if (!stopped_at_) return;
  stood_still_ += host_.job_clock() - *std::exchange(stopped_at_, std::nullopt);
  for (AttemptRecord* record : all_running()) record->attempt.resume();
  wake_at(wake_);
  is_watching() ? start_watching() : stop_watching();
}

Result<void> HostExecutor::signal(JobId job, int number, std::uint32_t asker) {
  Attempt* attempt = running(job);
  return attempt == nullptr ? Result<void>() : attempt->signal_main(number, asker);
}

bool HostExecutor::is_ending(JobId job) {
  if (Attempt* attempt = running(job)) attempt->check_oom();
  return running(job) == nullptr || running(job)->is_ending();
}

void HostExecutor::give_up_removals() {
  std::vector<AttemptKey> keys;  // whose end that is, is gone then
  for (const auto& [key, attempt] : attempts_) keys.push_back(key);
  for (const AttemptKey& key : keys) {
    if (const auto found = attempts_.find(key); found != attempts_.end()) {
      found->second->attempt.give_up_removal();
    }
  }
}

std::vector<monitor::Status> HostExecutor::monitors() const {
  auto monitors = watcher_.status();
  monitors.push_back(host_.oom().status());
  return monitors;
}

monitor::Reading HostExecutor::look() {
  const counters::SystemSample& machine = system_.now();
  seen_ = pool_.look(machine);
  std::optional<Bytes> charged = pool_.charged();
  if (seen_.pool_used) *seen_.pool_used += external_used_;
  if (charged) *charged += external_used_;
  reading_ = {.at = loop::now(),
              .bounds = observer_.bounds(),
              .used = seen_.pool_used,
              .charged = charged,
              .available = seen_.available,
              .stalled = pool_.stalled()};
  return reading_;
}

void HostExecutor::on_memory_alarm(const monitor::Alarm& alarm) {
  scheduler_.on_alarm(alarm.reason, alarm.numbers);
}

void HostExecutor::on_weakened(const monitor::Status& status) {
  observer_.on_notice(text_of(status));
}

void HostExecutor::decide(monitor::Cause cause) {
  const auto headroom = monitor::headroom_of(reading_);
  const bool is_mark_passed = headroom && room_mark_.passes(*headroom);
  if (cause == monitor::Cause::event || monitor::is_near(reading_) || is_mark_passed) sample_jobs();
  scheduler_.on_machine(seen_);
  if (!is_watching()) stop_watching();
}

// When a job may be looked at before its time.
Instant HostExecutor::next_early_look(const policy::SampleInterval& samples) {
  return samples.last() + (samples.is_moving() ? kMovingSample : kCalmSample);
}

// Whatever is decided upon a look may start and end others.
void HostExecutor::look_at(const std::vector<JobId>& jobs) {
  for (const JobId job : jobs) {
    if (Attempt* attempt = running(job)) attempt->look();
  }
}

void HostExecutor::sample_jobs() {
  std::vector<JobId> due;
  for (const AttemptRecord* record : all_running()) {
    if (host_.now() >= next_early_look(record->attempt.samples())) due.push_back(record->key.job);
  }
  look_at(due);
}

// Each once after look_soon().
void HostExecutor::look_at_rest() {
  if (stopped_at_) return;
  const Instant now = host_.now();
  std::vector<JobId> due;
  std::optional<Instant> later;
  for (const AttemptRecord* record : all_running()) {
    const policy::SampleInterval& samples = record->attempt.samples();
    if (samples.last() >= looks_asked_at_) continue;
    const Instant next = next_early_look(samples);
    if (next <= now) {
      due.push_back(record->key.job);
    } else {
      later = std::min(later.value_or(next), next);
    }
  }
  if (later) looks_timer_->set(*later);
  look_at(due);
}

void HostExecutor::check_ooms() {
  for (AttemptRecord* record : all_running()) record->attempt.check_oom();
  if (--oom_checks_left_ > 0) oom_timer_->set(host_.now() + kOomCheckGap);
}

void HostExecutor::on_over(AttemptRecord& record, const policy::AttemptEnd& end) {
  JobRecord& job = jobs_.at(record.key.job);
  job.running = nullptr;
  record.is_over = true;
  record.end = end;
  if (!record.end.written) record.end.written = seen_to_write(record);
  --running_;
  const bool ended_by_itself =
      end.outcome == policy::Outcome::exited || end.outcome == policy::Outcome::failed_to_start;
  if (!ended_by_itself) {
    watcher_.sample_soon();  // whoever waits does so until what it had is seen to be back
  } else if (!is_watching()) {
    stop_watching();
  }
  look_after_writer(record.end);
  record.span.observe(system_.now());
  job.owner->on_over(record.key);
  if (record.attempt.has_group() && ++removals_ > removals_max_) {
    untold_.push_back(&record);
  } else {
    tell_over(record);
  }
}

// What it has removed at its end may be what another waits for.
void HostExecutor::look_after_writer(const policy::AttemptEnd& end) {
  if (holds_writers() && end.written > Bytes{}) disk_watch_->look_soon();
}

void HostExecutor::tell_over(AttemptRecord& record) {
  scheduler_.on_over(record.key.job, record.end);
}

// One over is told for each removal that ends: its own, so that it comes before on_gone(), or the
// one that waits for the longest.
void HostExecutor::on_removed(AttemptRecord& record) {
  --removals_;
  if (untold_.empty()) return;
  auto next = std::find(untold_.begin(), untold_.end(), &record);
  if (next == untold_.end()) next = untold_.begin();
  AttemptRecord& told = **next;
  untold_.erase(next);
  tell_over(told);
}

void HostExecutor::on_gone(AttemptRecord& record, const AttemptResult& result) {
  auto kept = attempts_.extract(record.key);
  if (const auto text = got_away_text(result.left_behind); !text.empty()) observer_.on_notice(text);
  if (result.group_left) observer_.on_notice(left_group_text(*result.group_left));
  JobRecord& job = jobs_.at(record.key.job);
  --job.attempts;
  job.owner->on_gone({.key = record.key, .result = result, .machine = record.span.usage()});
  forget_if_done(record.key.job);
  finished_.push_back(std::move(kept.mapped()));
}

}  // namespace plimsoll::supervisor
