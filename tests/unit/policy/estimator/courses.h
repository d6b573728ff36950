#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "policy/estimator/estimator.h"

// Attempts told as courses of memory over time.
namespace plimsoll::policy {

inline constexpr double kMb = 1e6;
constexpr Bytes mb(double count) { return {static_cast<std::uint64_t>(count * kMb)}; }

inline const Key kClass{"class", ""};
inline const Key kOther{"other", ""};

struct At {
  double seconds;
  double used_mb;
};

inline LiveProfile after(const std::vector<At>& course) {
  LiveProfile live_profile;
  for (const At& at : course) {
    live_profile.observe(
        {.ran = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(at.seconds)),
         .used = mb(at.used_mb)});
  }
  return live_profile;
}

inline AttemptSummary attempt_summary(const std::vector<At>& course) {
  const LiveProfile live_profile = after(course);
  AttemptSummary one{
      .key = kClass, .peak = live_profile.peak(), .ran = live_profile.ran(), .cores = 1};
  for (const At& at : course) {
    one.curve.push_back(
        {std::chrono::duration_cast<Duration>(std::chrono::duration<double>(at.seconds)),
         mb(at.used_mb)});
  }
  return one;
}

inline double peak_mb(const Estimate& estimate) { return estimate.peak.mean / kMb; }

// The first of the horizons that is not before `ahead`.
inline const Belief& at(const Estimate& estimate, Duration ahead) {
  std::size_t i = 0;
  while (kHorizons[i] < ahead) ++i;
  return estimate.ahead[i];
}

}  // namespace plimsoll::policy
