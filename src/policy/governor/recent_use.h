#pragma once

#include <map>

#include "base/units.h"
#include "policy/job/tenant.h"

namespace plimsoll::policy {

// Which cores each tenant has used lately. What was used weighs less the longer ago it was: half of
// it is forgotten in kForgotten.
class RecentUse {
 public:
  // Long enough that a burst of short jobs counts, and that one who has waited is heard before his
  // next command, not after it. A guess.
  static constexpr Duration kForgotten = std::chrono::seconds(5);

  // One of its jobs has used so much CPU time until now.
  void used(Tenant tenant, Duration cpu, Instant now);
  // On average; 0 of one who has used nothing.
  [[nodiscard]] double cores(Tenant tenant, Instant now) const;

 private:
  struct Used {
    double seconds = 0;  // of CPU time, as of `at`
    Instant at{};
  };
  [[nodiscard]] static double left(const Used& used, Instant now);

  std::map<Tenant, Used> used_;  // whose use is next to nothing is forgotten
};

}  // namespace plimsoll::policy
