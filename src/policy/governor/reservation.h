#pragma once

#include <map>
#include <optional>

#include "base/units.h"
#include "policy/estimator/demand_forecast.h"
#include "policy/job/job.h"
#include "policy/job/tenant.h"

namespace plimsoll::policy {

// The first that does not fit waits at least so long before everybody else waits for it.
inline constexpr Duration kReservedJobPatienceMin = std::chrono::minutes(10);
// And so many times as long as it is expected to run.
inline constexpr double kReservedJobPatience = 2;

// Where there are several tenants, one's reserved job keeps the others from starting anything for
// so long at a time, and then no more until that patience has passed again.
inline constexpr Duration kReservedJobDrain = std::chrono::minutes(1);

// The place kept for a tenant's waiting reserved job: the first in his order that does not fit has
// it until it starts. Smaller jobs go ahead only where they don't take that place (EASY backfill);
// after the patience above nobody goes ahead at all, so that it starts at last, alone if need be.
class Reservation {
 public:
  void keep_for(JobId job, Instant now);
  // `job` starts or waits no longer.
  void give_up(JobId job);

  [[nodiscard]] std::optional<JobId> job() const { return job_; }
  [[nodiscard]] bool out_of_patience(const Estimate& estimate, Instant now) const;
  // Whether other tenants wait for it too, be it that they have less than he.
  [[nodiscard]] bool holds_everybody(const Estimate& estimate, Instant now) const;

  // When it fits by the outlook, and from then on what it will use.
  struct Place {
    Demand demand;
    bool known = false;
    std::optional<Duration> from;  // absent: not as far as one can see
  };
  [[nodiscard]] static Place place_of(const DemandForecast& demand_forecast,
                                      const Estimate& reserved_job, double z, double line);

 private:
  std::optional<JobId> job_;
  Instant since_{};
};

// The places kept for reserved jobs; of each tenant one at most.
using Reservations = std::map<Tenant, Reservation>;

}  // namespace plimsoll::policy
