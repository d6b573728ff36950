#include "engine/real_world.h"

#include "cgroup/reclaim.h"

namespace plimsoll::engine {
namespace {

// The kernel's peak counts clean page cache, which `used` leaves out: it stands in only for a job
// that ended before it was looked at.
policy::JobSample job_sample(const Attempt& attempt, const measure::Sample& sample, Instant now) {
  const measure::MemoryUsage& memory = sample.memory;
  policy::JobSample seen{.ran = attempt.ran(now)};
  const bool is_only_look = attempt.is_emptied() && !attempt.was_looked_at();
  const auto stand_in = is_only_look ? memory.peak : memory.current;
  seen.used =
      is_only_look ? stand_in.value_or(Bytes{}) : memory.used.value_or(stand_in.value_or(Bytes{}));
  seen.peak = seen.used;
  seen.cpu = sample.cpu.usage.value_or(Duration{});
  if (sample.io.read || sample.io.written) {
    seen.io = sample.io.read.value_or(Bytes{}) + sample.io.written.value_or(Bytes{});
  }
  return seen;
}

}  // namespace

RealWorld::RealWorld(Machine& machine, SystemRecord& system, policy::WorldObserver& observer,
                     RealWorldHooks hooks)
    : machine_(machine),
      system_(system),
      observer_(observer),
      hooks_(std::move(hooks)),
      pool_(machine.pool()),
      wake_timer_(machine.loop().timer([this] { observer_.on_wake(); })),
      look_timer_(machine.loop().timer([this] { look(); })) {}

RealWorld::~RealWorld() = default;

Instant RealWorld::now() const { return stopped_at_.value_or(loop::now()) - stood_still_; }

Attempt* RealWorld::running(JobId job) {
  const auto found = running_.find(job);
  return found == running_.end() ? nullptr : found->second;
}

void RealWorld::start(const policy::Start& start) {
  const AttemptKey key{start.job, start.attempt};
  Prepared prepared = hooks_.prepare(start);
  Attempt::Callbacks callbacks{
      .over = [this, key](const policy::AttemptEnd& end) { on_over(key, end); },
      .gone = [this, key](const AttemptResult& result) { on_gone(key, result); },
      .looked =
          [this, key](const measure::Sample& sample) {
            if (const Attempt* attempt = running(key.job)) on_looked(key.job, *attempt, sample);
          },
      .stuck = [this, key](const reap::Stuck& stuck) { hooks_.stuck(key, stuck); }};
  auto made =
      std::make_unique<Attempt>(machine_, std::move(prepared.request), std::move(callbacks));
  Attempt& attempt = *made;
  attempts_.emplace(key, std::move(made));
  if (running_.empty()) look_timer_.set(loop::now() + kLookInterval);
  running_.emplace(key.job, &attempt);
  if (prepared.refusal) {
    attempt.refuse(std::move(*prepared.refusal));
  } else {
    attempt.start();
  }
}

void RealWorld::freeze(JobId job) {
  if (Attempt* attempt = running(job)) attempt->freeze();
}

void RealWorld::thaw(JobId job) {
  if (Attempt* attempt = running(job)) attempt->thaw();
}

// The write lasts as long as the reclaim: not on the loop's thread.
void RealWorld::reclaim(std::optional<JobId> job, Bytes amount) {
  const cgroup::Directory* memory = nullptr;
  std::shared_ptr<const cgroup::Group> group;
  if (!job) {
    memory = machine_.pool().of(cgroup::Controller::memory);
  } else if (const Attempt* attempt = running(*job)) {
    group = attempt->group();
    if (group != nullptr) memory = group->of(cgroup::Controller::memory);
  }
  if (memory == nullptr) return;
  auto handle = memory->clone();
  if (!handle) return;
  auto shared = std::make_shared<cgroup::Directory>(std::move(*handle));
  machine_.slow_worker().submit(
      [shared, amount] {
        // What can't be had back shows in the samples.
        [[maybe_unused]] const auto ignored = cgroup::reclaim(*shared, amount);
      },
      [] {});
}

void RealWorld::kill(JobId job, policy::Outcome cause, std::string reason) {
  Attempt* attempt = running(job);
  if (attempt == nullptr) return;
  if (cause == policy::Outcome::timed_out) {
    attempt->time_out(std::move(reason));
  } else {
    attempt->kill(cause, std::move(reason));
  }
}

void RealWorld::wake_at(std::optional<Instant> when) {
  wake_ = when;
  if (wake_ && !stopped_at_) {
    wake_timer_.set(*wake_ + stood_still_);
  } else {
    wake_timer_.off();
  }
}

void RealWorld::suspend_all() {
  if (stopped_at_) return;
  stopped_at_ = loop::now();
  for (auto& [job, attempt] : running_) attempt->suspend();
  look_timer_.off();
  wake_timer_.off();
}

void RealWorld::resume_all() {
  if (!stopped_at_) return;
  stood_still_ += loop::now() - *std::exchange(stopped_at_, std::nullopt);
  for (auto& [job, attempt] : running_) attempt->resume();
  wake_at(wake_);
  if (!running_.empty()) look_timer_.set(loop::now());
}

void RealWorld::look() {
  observer_.on_machine(pool_.look(system_.now()));
  if (!running_.empty()) look_timer_.set(loop::now() + kLookInterval);
}

void RealWorld::on_looked(JobId job, const Attempt& attempt, const measure::Sample& sample) {
  observer_.on_job(job, job_sample(attempt, sample, loop::now()));
}

void RealWorld::on_over(AttemptKey key, const policy::AttemptEnd& end) {
  running_.erase(key.job);
  if (running_.empty()) look_timer_.off();
  hooks_.over(key, end);
  observer_.on_over(key.job, end);
}

void RealWorld::on_gone(AttemptKey key, const AttemptResult& result) {
  auto attempt = attempts_.extract(key);
  hooks_.gone(key, result);
  finished_.push_back(std::move(attempt.mapped()));
}

}  // namespace plimsoll::engine
