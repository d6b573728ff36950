// What the sampler sees, when it looks, and how late that is told.
#include <algorithm>
#include <cmath>

#include "sim/machine.h"
#include "sim/quantities.h"

namespace plimsoll::sim {

Duration SimulatedWorld::ran(const Attempt& attempt) const {
  const bool runs = attempt.state == State::running || attempt.state == State::returning;
  return runs ? attempt.ran + (now_ - attempt.resumed) : attempt.ran;
}

bool SimulatedWorld::is_frozen(JobId job) const {
  return attempts_[index_of(job)].state == State::frozen;
}

Bytes SimulatedWorld::used() const { return from_mib(motion_.used_mib()); }

Bytes SimulatedWorld::swap_free() const { return from_mib(swap_free_mib_); }

Duration SimulatedWorld::gap_at(double growth_mib) const {
  if (growth_mib <= 0) return kSampleGapCalm;
  const double left = std::max(line_mib_ - motion_.used_mib(), 0.0);
  return std::clamp(to_duration(left / growth_mib / kSamplesBeforeLine), kSampleGapShort,
                    kSampleGapCalm);
}

void SimulatedWorld::sample(std::size_t job) {
  Attempt& attempt = attempts_[job];
  if (attempt.state != State::running) return;
  const double used = motion_.job_used_mib(job);
  Delivery delivery{.at = now_ + kSampleDelay, .job = job, .epoch = attempt.epoch};
  delivery.job_sample = {.ran = ran(attempt),
                         .used = from_mib(used),
                         .peak = from_mib(motion_.job_peak_mib(job)),
                         .cpu = to_duration(motion_.job_cpu_seconds(job))};
  deliveries_.push_back(delivery);
  const double seconds = to_seconds(ran(attempt) - attempt.sampled_at);
  const double growth = seconds > 0 ? (used - attempt.sampled_mib) / seconds : 0;
  attempt.sampled_mib = used;
  attempt.sampled_at = ran(attempt);
  const bool young = ran(attempt) < kSampledClosely;
  schedule(What::sample, young ? kSampleGapShort : gap_at(growth), job);
}

void SimulatedWorld::count_stalls(double seconds) {
  if (motion_.cores_asked() > config_.cores) cpu_stalled_ += seconds;
  if (motion_.moving() > 0 && motion_.throttled() == motion_.moving()) memory_stalled_ += seconds;
}

void SimulatedWorld::sample_machine() {
  const double used = motion_.used_mib();
  const double cpu = motion_.cpu_seconds();
  const double seconds = to_seconds(now_ - sampled_at_);
  Delivery delivery{.at = now_ + kSampleDelay};
  policy::MachineSample& seen = delivery.machine_sample;
  seen.pool_used = from_mib(used);
  seen.available = from_mib(whole_mib_ - used);
  seen.runnable = static_cast<std::uint64_t>(std::ceil(motion_.cores_asked()));
  if (seconds > 0) {
    seen.cores_busy = (cpu - sampled_cpu_) / seconds;
    seen.stall.cpu_some = std::min(cpu_stalled_ / seconds, 1.0);
    seen.stall.memory_full = std::min(memory_stalled_ / seconds, 1.0);
    seen.stall.io_full = 0;
  }
  if (config_.swap > Bytes{}) seen.swap_free = from_mib(swap_free_mib_);
  deliveries_.push_back(delivery);
  sampled_mib_ = used;
  sampled_cpu_ = cpu;
  sampled_at_ = now_;
  cpu_stalled_ = memory_stalled_ = 0;
}

void SimulatedWorld::deliver(policy::WorldObserver& observer) {
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
