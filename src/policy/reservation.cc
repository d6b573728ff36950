#include "policy/reservation.h"

#include <algorithm>

namespace plimsoll::policy {

void Reservation::keep_for(JobId job, Instant now) {
  if (job_ == job) return;
  job_ = job;
  since_ = now;
}

void Reservation::give_up(JobId job) {
  if (job_ == job) job_.reset();
}

bool Reservation::out_of_patience(const Estimate& estimate, Instant now) const {
  if (!job_) return false;
  const std::chrono::duration<double> expected(kGiantPatience * estimate.remaining.mean);
  const std::chrono::duration<double> waited(now - since_);
  return waited > std::max<std::chrono::duration<double>>(expected, kGiantPatienceMin);
}

Reservation::Place Reservation::place_of(const Outlook& outlook, const Estimate& giant, double z,
                                         double line) {
  const bool known = is_known(giant);
  for (const Duration from : kHorizons) {
    const Demand demand = demand_of(giant, {}, from);
    bool fits = true;
    for (std::size_t i = 0; i < kHorizonCount && fits; ++i) {
      if (kHorizons[i] < from) continue;
      fits = outlook.level_with(i, z, demand, known) <= line;
    }
    if (fits) return {.demand = demand, .known = known, .from = from};
  }
  return {};
}

}  // namespace plimsoll::policy
