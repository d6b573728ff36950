#pragma once

#include <cstddef>
#include <span>

#include "policy/job/observation.h"
#include "sim/chance.h"
#include "sim/curves.h"
#include "sim/machine_config.h"
#include "sim/motion.h"

namespace plimsoll::sim {

// What is seen of the simulated machine as a whole, and when it is looked at again: as the watcher
// and the pool's sampler do it on a real one.
class MachineSampler {
 public:
  // All but the configuration must outlive this.
  MachineSampler(const MachineConfig& config, std::span<const SimJob> jobs, const Motion& motion,
                 Chance& chance);

  // Looks begin: what was before is not counted.
  void begin(Duration now);
  // Everything has stood as it does for so many seconds.
  void count_stalls(double seconds);
  [[nodiscard]] policy::MachineSample sample(Duration now, double swap_free_mib);
  // From one look to the next; so many jobs were looked at with the last.
  [[nodiscard]] Duration gap(std::size_t jobs_sampled) const;

 private:
  void tell_shares(policy::MachineSample& seen, Duration now);

  MachineConfig config_;
  const Motion& motion_;
  Chance& chance_;
  double line_mib_, whole_mib_;
  Duration finest_gap_ = kFinestMax;  // of looks, by the finest of the curves
  double growth_mib_ = 0;             // a second, as it was last seen; falls by half with each look
  double sampled_mib_ = 0;            // at the last sample
  Duration sampled_at_{};             // then
  double shares_cpu_ = 0;             // seconds, when shares were last told
  Duration shares_at_{};              // then
  double cpu_stalled_ = 0;            // seconds since then
  double memory_stalled_ = 0;         // of them, nobody could go on
  double others_cpu_ = 0;             // likewise: seconds that others have computed
  policy::MachineSample shares_;
};

// A curve has nothing to show between looks that are closer than this.
[[nodiscard]] Duration finest_gap(const Curve& curve);

}  // namespace plimsoll::sim
