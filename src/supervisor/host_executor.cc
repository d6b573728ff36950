#include "supervisor/host_executor.h"

#include "kernel/cgroup/reclaim.h"
#include "supervisor/families.h"

namespace plimsoll::supervisor {
namespace {

// The kernel's peak counts clean page cache, which `used` leaves out: it stands in only for a job
// that ended before it was looked at.
policy::JobSample job_sample(const Attempt& attempt, const counters::Sample& sample) {
  const counters::MemoryUsage& memory = sample.memory;
  policy::JobSample seen{.ran = attempt.ran()};
  const bool is_only_sample = attempt.is_emptied() && !attempt.was_sampled();
  const auto stand_in = !is_only_sample ? memory.current
                        : memory.peak   ? memory.peak
                                        : memory.sampled_peak;
  seen.used = is_only_sample ? stand_in.value_or(Bytes{})
                             : memory.used.value_or(stand_in.value_or(Bytes{}));
  seen.peak = seen.used;
  seen.cpu = sample.cpu.usage.value_or(Duration{});
  if (sample.cpu.pressure && sample.cpu.pressure->some) {
    seen.cpu_wait = sample.cpu.pressure->some->total;
  }
  if (sample.io.read || sample.io.written) {
    seen.io = sample.io.read.value_or(Bytes{}) + sample.io.written.value_or(Bytes{});
  }
  return seen;
}

std::function<Bytes()> counter_of(Families* families) {
  if (families == nullptr) return {};
  return [families] {
    families->look(loop::now());
    return families->used();
  };
}

}  // namespace

HostExecutor::HostExecutor(Supervisor& supervisor, SystemRecord& system,
                           policy::ExecutorObserver& observer, HostExecutorHooks hooks)
    : supervisor_(supervisor),
      system_(system),
      observer_(observer),
      hooks_(std::move(hooks)),
      pool_(supervisor.pool(), counter_of(supervisor.families())),
      wake_timer_(supervisor.loop().timer([this] { observer_.on_wake(); })),
      watcher_(
          {.loop = supervisor.loop(), .worker = supervisor.worker(), .pool = supervisor.pool()},
          *this),
      oom_timer_(supervisor.loop().timer([this] { check_ooms(); })) {
  supervisor_.oom().on_oom([this] {
    oom_checks_left_ = kOomChecks;
    oom_timer_.set(loop::now());
  });
}

HostExecutor::~HostExecutor() { supervisor_.oom().on_oom({}); }

Instant HostExecutor::now() const {
  return stopped_at_.value_or(supervisor_.job_clock()) - stood_still_;
}

Attempt* HostExecutor::running(JobId job) {
  const auto found = running_.find(job);
  return found == running_.end() ? nullptr : found->second;
}

void HostExecutor::start(const policy::Start& start) {
  const AttemptKey key{start.job, start.attempt};
  Prepared prepared = hooks_.prepare(start);
  Attempt::Callbacks callbacks{
      .over = [this, key](const policy::AttemptEnd& end) { on_over(key, end); },
      .gone = [this, key](const AttemptResult& result) { on_gone(key, result); },
      .sampled =
          [this, key](const counters::Sample& sample) {
            if (const Attempt* attempt = running(key.job)) on_sampled(key.job, *attempt, sample);
          },
      .stuck = [this, key](const reap::Stuck& stuck) { hooks_.stuck(key, stuck); }};
  auto made =
      std::make_unique<Attempt>(supervisor_, std::move(prepared.request), std::move(callbacks));
  Attempt& attempt = *made;
  attempts_.emplace(key, std::move(made));
  watcher_.start();
  running_.emplace(key.job, &attempt);
  if (prepared.refusal) {
    attempt.refuse(std::move(*prepared.refusal));
  } else {
    attempt.start();
  }
}

void HostExecutor::freeze(JobId job) {
  if (Attempt* attempt = running(job)) attempt->freeze();
}

void HostExecutor::thaw(JobId job) {
  if (Attempt* attempt = running(job)) attempt->thaw();
}

// The write lasts as long as the reclaim: not on the loop's thread.
void HostExecutor::reclaim(std::optional<JobId> job, Bytes amount) {
  const cgroup::Directory* memory = nullptr;
  std::shared_ptr<const cgroup::Group> group;
  if (!job) {
    memory = supervisor_.pool().of(cgroup::Controller::memory);
  } else if (const Attempt* attempt = running(*job)) {
    group = attempt->group();
    if (group != nullptr) memory = group->of(cgroup::Controller::memory);
  }
  if (memory == nullptr) return;
  auto handle = memory->clone();
  if (!handle) return;
  auto shared = std::make_shared<cgroup::Directory>(std::move(*handle));
  supervisor_.slow_worker().submit(
      [shared, amount] {
        // What can't be had back shows in the samples.
        [[maybe_unused]] const auto ignored = cgroup::reclaim(*shared, amount);
      },
      [] {});
}

void HostExecutor::kill(JobId job, policy::Outcome cause, std::string reason) {
  Attempt* attempt = running(job);
  if (attempt == nullptr) return;
  if (cause == policy::Outcome::timed_out) {
    attempt->time_out(std::move(reason));
  } else {
    attempt->kill(cause, std::move(reason));
  }
}

void HostExecutor::wake_at(std::optional<Instant> when) {
  wake_ = when;
  if (wake_ && !stopped_at_) {
    wake_timer_.set(supervisor_.on_loop_clock(*wake_ + stood_still_));
  } else {
    wake_timer_.off();
  }
}

void HostExecutor::suspend_all() {
  if (stopped_at_) return;
  stopped_at_ = supervisor_.job_clock();
  for (auto& [job, attempt] : running_) attempt->suspend();
  watcher_.stop();
  wake_timer_.off();
}

void HostExecutor::resume_all() {
  if (!stopped_at_) return;
  stood_still_ += supervisor_.job_clock() - *std::exchange(stopped_at_, std::nullopt);
  for (auto& [job, attempt] : running_) attempt->resume();
  wake_at(wake_);
  if (is_watching()) watcher_.start();
}

void HostExecutor::signal(JobId job, int number) {
  if (Attempt* attempt = running(job)) attempt->signal_main(number);
}

void HostExecutor::give_up_removals() {
  std::vector<AttemptKey> keys;  // whose end that is, is gone then
  for (const auto& [key, attempt] : attempts_) keys.push_back(key);
  for (const AttemptKey& key : keys) {
    if (const auto found = attempts_.find(key); found != attempts_.end()) {
      found->second->give_up_removal();
    }
  }
}

std::vector<monitor::Status> HostExecutor::monitors() const {
  auto monitors = watcher_.status();
  monitors.push_back(supervisor_.oom().status());
  return monitors;
}

void HostExecutor::watch_for_external(std::size_t external_jobs) {
  external_jobs_ = external_jobs;
  if (!is_watching()) return watcher_.stop();
  if (!stopped_at_) watcher_.start();
}

monitor::Reading HostExecutor::look() {
  const counters::SystemSample& machine = system_.now();
  seen_ = pool_.look(machine);
  std::optional<Bytes> charged = pool_.charged();
  if (seen_.pool_used) *seen_.pool_used += external_used_;
  if (charged) *charged += external_used_;
  reading_ = {.at = loop::now(),
              .bounds = hooks_.bounds(),
              .used = seen_.pool_used,
              .charged = charged,
              .available = seen_.available,
              .stalled = pool_.stalled()};
  return reading_;
}

void HostExecutor::on_memory_alarm(const monitor::Alarm& alarm) {
  observer_.on_alarm(alarm.reason, alarm.numbers);
}

void HostExecutor::on_weakened(const monitor::Status& status) { hooks_.weakened(status); }

void HostExecutor::decide(monitor::Cause cause) {
  if (cause == monitor::Cause::event || monitor::is_near(reading_)) sample_jobs();
  observer_.on_machine(seen_);
  if (!is_watching()) watcher_.stop();
}

// Whatever is decided upon a look may start and end others.
void HostExecutor::sample_jobs() {
  const Instant now = loop::now();
  std::vector<JobId> due;
  for (const auto& [job, attempt] : running_) {
    const policy::SampleInterval& samples = attempt->samples();
    if (now - samples.last() >= (samples.is_moving() ? kMovingSample : kCalmSample))
      due.push_back(job);
  }
  for (const JobId job : due) {
    if (Attempt* attempt = running(job)) attempt->look();
  }
}

void HostExecutor::check_ooms() {
  std::vector<Attempt*> running;
  for (const auto& [job, attempt] : running_) running.push_back(attempt);
  for (Attempt* attempt : running) attempt->check_oom();
  if (--oom_checks_left_ > 0) oom_timer_.set(loop::now() + kOomCheckGap);
}

void HostExecutor::on_sampled(JobId job, const Attempt& attempt, const counters::Sample& sample) {
  observer_.on_job(job, job_sample(attempt, sample));
}

void HostExecutor::on_over(AttemptKey key, const policy::AttemptEnd& end) {
  running_.erase(key.job);
  const bool ended_by_itself =
      end.outcome == policy::Outcome::exited || end.outcome == policy::Outcome::failed_to_start;
  if (!ended_by_itself) {
    watcher_.sample_soon();  // whoever waits does so until what it had is seen to be back
  } else if (!is_watching()) {
    watcher_.stop();
  }
  hooks_.over(key, end);
  observer_.on_over(key.job, end);
}

void HostExecutor::on_gone(AttemptKey key, const AttemptResult& result) {
  auto attempt = attempts_.extract(key);
  hooks_.gone(key, result);
  finished_.push_back(std::move(attempt.mapped()));
}

}  // namespace plimsoll::supervisor
