#include "sim/machine_sampler.h"

#include <algorithm>

#include "sim/quantities.h"

namespace plimsoll::sim {

MachineSampler::MachineSampler(const MachineConfig& config, std::span<const SimJob> jobs,
                               const Motion& motion, Chance& chance)
    : config_(config),
      motion_(motion),
      chance_(chance),
      line_mib_(to_mib(config.line)),
      whole_mib_(to_mib(config.line + reserve_of(config.line))) {
  for (const SimJob& job : jobs) finest_gap_ = std::min(finest_gap_, finest_gap(job.curve));
}

void MachineSampler::begin(Duration now) {
  sampled_mib_ = motion_.used_mib();
  shares_cpu_ = motion_.cpu_seconds();
  sampled_at_ = shares_at_ = now;
  cpu_stalled_ = memory_stalled_ = others_cpu_ = 0;
}

// As the watcher's pace.
Duration MachineSampler::gap(std::size_t jobs_sampled) const {
  const double left = std::max(line_mib_ - motion_.used_mib(), 0.0);
  const double rate = std::max(growth_mib_ * kMachineGrowthAhead, kMachineBurstMib);
  const Duration cost = kMachineLookCost + kJobLookCost * jobs_sampled;
  const Duration least =
      std::clamp(to_duration(to_seconds(cost) / kLookShare), kMachineGapMin, kMachineGapCostMax);
  return std::clamp(to_duration(left / rate / kMachineLooksBefore), std::max(least, finest_gap_),
                    kMachineGapMax);
}

// While ours and others together ask for a core more than there is, somebody waits all the time;
// for a part of one, that part of the time.
void MachineSampler::count_stalls(double seconds) {
  cpu_stalled_ += std::min(motion_.cores_short(), 1.0) * seconds;
  others_cpu_ += motion_.cores_of_others() * seconds;
  if (motion_.moving() > 0 && motion_.throttled() == motion_.moving()) memory_stalled_ += seconds;
}

void MachineSampler::tell_shares(policy::MachineSample& seen, Duration now) {
  const double seconds = to_seconds(now - shares_at_);
  if (now - shares_at_ >= kShareSpan) {
    const double own = motion_.cpu_seconds() - shares_cpu_;
    shares_.pool_cores = own / seconds;
    shares_.cores_busy =
        std::max(own + others_cpu_ + chance_.wobble(to_seconds(kTick)), 0.0) / seconds;
    shares_.stall = {.cpu_some = std::min(cpu_stalled_ / seconds, 1.0),
                     .memory_full = std::min(memory_stalled_ / seconds, 1.0),
                     .io_full = 0};
    shares_cpu_ = motion_.cpu_seconds();
    shares_at_ = now;
    cpu_stalled_ = memory_stalled_ = others_cpu_ = 0;
  }
  seen.pool_cores = shares_.pool_cores;
  seen.cores_busy = shares_.cores_busy;
  seen.stall = shares_.stall;
}

policy::MachineSample MachineSampler::sample(Duration now, double swap_free_mib) {
  const double used = motion_.used_mib();
  const double seconds = to_seconds(now - sampled_at_);
  if (seconds > 0) {
    const double growth = (used - sampled_mib_) / seconds;
    growth_mib_ = std::max(growth, (growth + growth_mib_) / 2);
  }
  sampled_mib_ = used;
  sampled_at_ = now;

  policy::MachineSample seen;
  seen.pool_used = from_mib(std::max(used + chance_.wobble(kMemoryNoiseMib), 0.0));
  seen.available = from_mib(whole_mib_ - used);
  tell_shares(seen, now);
  if (config_.swap > Bytes{}) seen.swap_free = from_mib(swap_free_mib);
  return seen;
}

Duration finest_gap(const Curve& curve) {
  const double between = curve.seconds() / static_cast<double>(curve.points().size() - 1);
  return std::min(to_duration(between * kFinest), kFinestMax);
}

}  // namespace plimsoll::sim
