#include "base/loop/lag.h"

#include <algorithm>
#include <bit>
#include <chrono>

namespace plimsoll::loop {

void Lag::add(Duration late) {
  const auto us = std::chrono::ceil<std::chrono::microseconds>(std::max(late, Duration{})).count();
  const auto steps = std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(us, 1)) - 1);
  ++counts_[std::min<std::size_t>(static_cast<std::size_t>(steps), kSteps - 1)];
  ++count_;
  max_ = std::max(max_, late);
}

LagFigures Lag::figures() const { return {.p50 = share(0.5), .p99 = share(0.99), .max = max_}; }

// The least step that so many were below, but not more than the most.
Duration Lag::share(double part) const {
  if (count_ == 0) return {};
  std::uint64_t seen = 0;
  for (std::size_t step = 0; step < kSteps; ++step) {
    seen += counts_[step];
    if (static_cast<double>(seen) < part * static_cast<double>(count_)) continue;
    return std::min(max_, Duration(std::chrono::microseconds(std::int64_t{1} << step)));
  }
  return max_;
}

}  // namespace plimsoll::loop
