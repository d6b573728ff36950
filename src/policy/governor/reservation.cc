#include "policy/governor/reservation.h"

#include <algorithm>
#include <cmath>

namespace plimsoll::policy {
namespace {

using Seconds = std::chrono::duration<double>;

Seconds patience_for(const Estimate& reserved_job) {
  return std::max<Seconds>(Seconds(kReservedJobPatience * reserved_job.remaining.mean),
                           kReservedJobPatienceMin);
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
  return std::fmod(beyond.count(), (patience + Seconds(kReservedJobDrain)).count()) <
         Seconds(kReservedJobDrain).count();
}

Reservation::Place Reservation::place_of(const DemandForecast& demand_forecast,
                                         const Estimate& reserved_job, double z, double line) {
  const bool known = is_known(reserved_job);
  for (const Duration from : kHorizons) {
    const Demand demand = demand_of(reserved_job, {}, from);
    bool fits = true;
    for (std::size_t i = 0; i < kHorizonCount && fits; ++i) {
      if (kHorizons[i] < from) continue;
      fits = demand_forecast.level_with(i, z, demand, known) <= line;
    }
    if (fits) return {.demand = demand, .known = known, .from = from};
  }
  return {};
}

}  // namespace plimsoll::policy
