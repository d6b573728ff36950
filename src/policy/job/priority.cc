#include "policy/job/priority.h"

#include <algorithm>
#include <cmath>

namespace plimsoll::policy {

unsigned weight_of(int priority) {
  const double weight = kWeightDefault * std::pow(kWeightStep, priority);
  return static_cast<unsigned>(
      std::clamp(std::round(weight), double{kWeightLeast}, double{kWeightMost}));
}

Limits weighted_limits(const JobSpec& job) {
  Limits limits = job.limits;
  if (job.priority != 0) limits.weight = weight_of(job.priority);
  return limits;
}

}  // namespace plimsoll::policy
