#pragma once

#include <algorithm>
#include <chrono>

#include "base/units.h"

// How long a job waits before it is tried again.
namespace plimsoll::policy {

// The first wait: long enough for a lock to be released or a server to come back, short beside most
// jobs. A guess.
inline constexpr Duration kBackoffFirst = std::chrono::seconds(1);
// The longest wait: what does not work after minutes is not helped by waiting for hours.
inline constexpr Duration kBackoffMax = std::chrono::minutes(1);

// The wait after a job's `n`th attempt that is to be repeated, n from 1: it doubles each time, up
// to kBackoffMax.
constexpr Duration backoff_after(unsigned n) {
  Duration wait = kBackoffFirst;
  for (unsigned i = 1; i < n && wait < kBackoffMax; ++i) wait *= 2;
  return std::min(wait, kBackoffMax);
}

}  // namespace plimsoll::policy
