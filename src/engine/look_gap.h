#pragma once

#include <algorithm>
#include <chrono>

#include "base/units.h"

namespace plimsoll::engine {

// How long until a running job is looked at again for the governor's sake: soon while its memory
// moves, seldom while it is calm. A look costs about 25 us: 1,000 calm jobs take 2.5 % of a core.
class LookGap {
 public:
  static constexpr Duration kMin = std::chrono::milliseconds(100);
  static constexpr Duration kMax = std::chrono::seconds(1);
  // A move is more than both: less says nothing about where a job is going.
  static constexpr double kMoveShare = 0.01;
  static constexpr Bytes kMoveMin{1 << 20};

  // The gap after a look that found `used`.
  Duration after(Bytes used) {
    const Bytes moved = used > last_ ? used - last_ : last_ - used;
    const auto share = static_cast<double>(last_.count) * kMoveShare;
    const bool moves = moved > kMoveMin && static_cast<double>(moved.count) > share;
    last_ = used;
    gap_ = moves ? kMin : std::min(gap_ * 2, kMax);
    return gap_;
  }

 private:
  Bytes last_{};
  Duration gap_ = kMin;
};

}  // namespace plimsoll::engine
