#include "policy/governor/reservation.h"

#include <algorithm>
#include <cmath>

namespace plimsoll::policy {
namespace {

using Seconds = std::chrono::duration<double>;

Seconds patience_for(const Estimate& giant) {
  return std::max<Seconds>(Seconds(kGiantPatience * giant.remaining.mean), kGiantPatienceMin);
}

}  // namespace

void Reservation::keep_for(JobId job, Instant now) {
  if (job_ == job) return;
  job_ = job;
  since_ = now;
}

void Reservation::give_up(JobId job) {
  if (job_ == job) job_.reset();
}

bool Reservation::out_of_patience(const Estimate& estimate, Instant now) const {
  return job_ && Seconds(now - since_) > patience_for(estimate);
}

bool Reservation::holds_everybody(const Estimate& estimate, Instant now) const {
  if (!out_of_patience(estimate, now)) return false;
  const Seconds patience = patience_for(estimate);
  const Seconds beyond = Seconds(now - since_) - patience;
  return std::fmod(beyond.count(), (patience + Seconds(kGiantDrain)).count()) <
         Seconds(kGiantDrain).count();
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
