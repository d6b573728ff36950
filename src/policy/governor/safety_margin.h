#pragma once

#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace plimsoll::policy {

// The share of the line that admissions always leave free: below it, a frozen job could not go on
// (kThawCushion) and what was just admitted would stop what runs.
inline constexpr double kMarginLeast = 0.03;
// Each eviction leaves so much more free, each pause a twentieth of that, up to the most.
inline constexpr double kMarginEviction = 0.02;
inline constexpr double kMarginPause = 0.001;
inline constexpr double kMarginMost = 0.15;
// Half of what was added is forgotten after so long: of the order of what long jobs take, as the
// mix of jobs changes no faster, and long ones lose most.
inline constexpr Duration kSafetyMarginHalfLife = std::chrono::hours(3);

// Learns how much has to stay free on this machine with these jobs: what estimates don't tell, such
// as a wobble that all jobs share, shows as pauses and evictions.
class SafetyMargin {
 public:
  void evicted(Instant now) { add(kMarginEviction, now); }
  void paused(Instant now) { add(kMarginPause, now); }
  // The share of the line to be left free.
  [[nodiscard]] double margin(Instant now) const { return kMarginLeast + added(now); }

 private:
  [[nodiscard]] double added(Instant now) const {
    using Half = std::chrono::duration<double>;
    return added_ * std::exp2(-Half(now - at_).count() / Half(kSafetyMarginHalfLife).count());
  }
  void add(double share, Instant now) {
    added_ = std::min(added(now) + share, kMarginMost - kMarginLeast);
    at_ = now;
  }

  double added_ = 0;  // at at_
  Instant at_{};
};

}  // namespace plimsoll::policy
