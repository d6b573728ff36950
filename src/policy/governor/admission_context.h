#pragma once

#include <optional>
#include <vector>

#include "policy/governor/admission.h"
#include "policy/governor/disk_tenancy.h"
#include "policy/governor/governor_config.h"
#include "policy/governor/hindsight.h"
#include "policy/governor/memory_response.h"
#include "policy/governor/processors.h"
#include "policy/governor/running_set.h"
#include "policy/governor/tenancy.h"
#include "policy/governor/waiting.h"
#include "policy/job/tenant.h"

namespace plimsoll::policy {

// A job of which nothing was known has shown its needs after so long: most programs have read their
// input's beginning and allocated their tables by then. One that does not grow has sooner, one that
// does has only shown that it does.
inline constexpr Duration kSettled = std::chrono::milliseconds(250);
inline constexpr Duration kSettledGrowing = std::chrono::seconds(15);

// What runs, seen together.
struct AdmissionContext {
  Surroundings around{};         // for admissions: frozen jobs will go on
  DemandForecast moving{};       // for thaws: frozen jobs stand
  Hindsight::Forecasts going{};  // of those that run
  // Whoever runs and must run alone.
  struct Alone {
    Tenant tenant = kHost;
    Instant since{};
    bool waits_for_commands = false;  // which are its own: nobody else's run
  };
  std::optional<Alone> alone{};
  Tenancy tenancy;
  // Where there are several tenants: for the starts of one who has not more than his share.
  DemandForecast yielding{};
  // Likewise, of each of `around.disks`.
  std::vector<DiskTenancy> disk_tenancies{};
};

// O(running). `margin`: the share of the line that admissions leave free; `tenants`: of whom some
// job runs or waits. Also tells `waiting` what the running jobs of each kind have shown.
[[nodiscard]] AdmissionContext admission_context(const RunningSet& running_set,
                                                 const GovernorConfig& config,
                                                 const MemoryResponse::Limits& limits,
                                                 double margin, const Processors& processors,
                                                 const Hindsight& hindsight, Instant now,
                                                 std::size_t tenants, Waiting& waiting);

}  // namespace plimsoll::policy
