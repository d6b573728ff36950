// What the sampler sees, when it looks, and how late and how well that is told.
#include <algorithm>
#include <cmath>

#include "sim/quantities.h"
#include "sim/simulated_executor.h"

namespace plimsoll::sim {

Duration SimulatedExecutor::ran(const Attempt& attempt) const {
  const bool runs = attempt.state == State::running || attempt.state == State::returning;
  return runs ? attempt.ran + (now_ - attempt.resumed) : attempt.ran;
}

bool SimulatedExecutor::is_frozen(JobId job) const {
  return attempts_[index_of(job)].state == State::frozen;
}

bool SimulatedExecutor::is_done(JobId job) const { return attempts_[index_of(job)].done; }

Bytes SimulatedExecutor::used() const { return from_mib(motion_.used_mib()); }

Bytes SimulatedExecutor::swap_free() const { return from_mib(swap_free_mib_); }

// --- chance

// The same everywhere, which the library's distributions are not.
double SimulatedExecutor::random() {
  constexpr unsigned kBitsOver = 64 - 53;  // of a double
  return static_cast<double>(random_() >> kBitsOver) * 0x1p-53;
}

double SimulatedExecutor::wobble(double most) {
  return config_.noise == Noise::none ? 0 : most * (2 * random() - 1);
}

// --- looks at jobs

policy::JobSample SimulatedExecutor::seen_of(std::size_t job) {
  const double used = motion_.job_used_mib(job);
  policy::JobSample seen{.ran = ran(attempts_[job]),
                         .used = from_mib(std::max(used + wobble(kMemoryNoiseMib), 0.0)),
                         .cpu = to_duration(motion_.job_cpu_seconds(job)),
                         .cpu_wait = to_duration(motion_.job_cpu_wait(job))};
  seen.peak = seen.used;
  return seen;
}

void SimulatedExecutor::sample(std::size_t job) {
  if (attempts_[job].state == State::running) look_at(job);
}

void SimulatedExecutor::look_at(std::size_t job) {
  Attempt& attempt = attempts_[job];
  Delivery delivery{.at = now_ + kSampleDelay, .job = job, .epoch = attempt.epoch};
  attempt.last = delivery.job_sample = seen_of(job);
  attempt.was_sampled = true;
  deliveries_.push_back(delivery);
  const Duration for_governor = attempt.samples.after(attempt.last.used, Instant(now_));
  const Duration for_record = std::max(attempt.last.ran, kFirstSample);
  ++attempt.resumes;
  schedule(What::sample, std::min(for_governor, for_record), job);
}

Duration SimulatedExecutor::finest_gap(const Curve& curve) {
  const double between = curve.seconds() / static_cast<double>(curve.points().size() - 1);
  return std::min(to_duration(between * kFinest), kFinestMax);
}

void SimulatedExecutor::sample_jobs() {
  for (const std::size_t job : motion_.movers()) {
    const Attempt& attempt = attempts_[job];
    const Duration gap = attempt.samples.is_moving()
                             ? std::max(kMovingSampleInterval, finest_gap(jobs_[job].curve))
                             : kCalmSampleInterval;
    if (Instant(now_) - attempt.samples.last() < gap) continue;
    look_at(job);
    ++sampled_;
  }
}

// --- looks at the machine

// As the watcher's pace.
Duration SimulatedExecutor::machine_gap() {
  const double left = std::max(line_mib_ - motion_.used_mib(), 0.0);
  const double rate = std::max(growth_mib_ * kMachineGrowthAhead, kMachineBurstMib);
  const Duration cost = kMachineLookCost + kJobLookCost * sampled_;
  const Duration least =
      std::clamp(to_duration(to_seconds(cost) / kLookShare), kMachineGapMin, kMachineGapCostMax);
  return std::clamp(to_duration(left / rate / kMachineLooksBefore), std::max(least, finest_gap_),
                    kMachineGapMax);
}

// While ours and others together ask for a core more than there is, somebody waits all the time;
// for a part of one, that part of the time.
void SimulatedExecutor::count_stalls(double seconds) {
  cpu_stalled_ += std::min(motion_.cores_short(), 1.0) * seconds;
  others_cpu_ += motion_.cores_of_others() * seconds;
  if (motion_.moving() > 0 && motion_.throttled() == motion_.moving()) memory_stalled_ += seconds;
}

void SimulatedExecutor::tell_shares(policy::MachineSample& seen) {
  const double seconds = to_seconds(now_ - shares_at_);
  if (now_ - shares_at_ >= kShareSpan) {
    const double own = motion_.cpu_seconds() - shares_cpu_;
    shares_.pool_cores = own / seconds;
    shares_.cores_busy = std::max(own + others_cpu_ + wobble(to_seconds(kTick)), 0.0) / seconds;
    shares_.stall = {.cpu_some = std::min(cpu_stalled_ / seconds, 1.0),
                     .memory_full = std::min(memory_stalled_ / seconds, 1.0),
                     .io_full = 0};
    shares_cpu_ = motion_.cpu_seconds();
    shares_at_ = now_;
    cpu_stalled_ = memory_stalled_ = others_cpu_ = 0;
  }
  seen.pool_cores = shares_.pool_cores;
  seen.cores_busy = shares_.cores_busy;
  seen.stall = shares_.stall;
}

void SimulatedExecutor::sample_machine() {
  const double used = motion_.used_mib();
  const double seconds = to_seconds(now_ - sampled_at_);
  if (seconds > 0) {
    const double growth = (used - sampled_mib_) / seconds;
    growth_mib_ = std::max(growth, (growth + growth_mib_) / 2);
  }
  sampled_mib_ = used;
  sampled_at_ = now_;

  Delivery delivery{.at = now_ + kSampleDelay};
  policy::MachineSample& seen = delivery.machine_sample;
  seen.pool_used = from_mib(std::max(used + wobble(kMemoryNoiseMib), 0.0));
  seen.available = from_mib(whole_mib_ - used);
  tell_shares(seen);
  if (config_.swap > Bytes{}) seen.swap_free = from_mib(swap_free_mib_);
  sampled_ = 0;
  const bool is_near = line_mib_ - used <= line_mib_ * kNearShare;
  if (is_near && config_.sampling == Sampling::jobs_and_machine) sample_jobs();
  deliveries_.push_back(delivery);
}

void SimulatedExecutor::deliver(policy::ExecutorObserver& observer) {
  while (!deliveries_.empty() && deliveries_.front().at <= now_) {
    const Delivery delivery = deliveries_.front();
    deliveries_.pop_front();
    if (!delivery.job) {
      observer.on_machine(delivery.machine_sample);
    } else if (const Attempt& attempt = attempts_[*delivery.job];
               attempt.epoch == delivery.epoch && attempt.state == State::running) {
      observer.on_job(id_of(*delivery.job), delivery.job_sample);
    }
  }
}

}  // namespace plimsoll::sim
