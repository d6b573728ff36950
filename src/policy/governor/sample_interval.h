#pragma once

#include <algorithm>
#include <chrono>

#include "base/units.h"

namespace plimsoll::policy {

// How long until a running job is looked at again for the governor's sake: soon while its memory
// moves, seldom while it is calm. A look reads for about 15 us. Where nothing runs looks
// are further apart still (counters::rest_due()).
class SampleInterval {
 public:
  static constexpr Duration kMin = std::chrono::milliseconds(100);
  static constexpr Duration kMax = std::chrono::seconds(1);
  // A move is more than both: less says nothing about where a job is going.
  static constexpr double kMoveShare = 0.01;
  static constexpr Bytes kMoveMin{1 << 20};

  // The gap after a look that found `used`. A look before its time, which an alarm has made, says
  // that memory moves, or nothing.
  Duration after(Bytes used, Instant now) {
    const Bytes moved = used > reference_ ? used - reference_ : reference_ - used;
    const auto share = to_double(reference_) * kMoveShare;
    const bool moves = moved > kMoveMin && to_double(moved) > share;
    last_ = now;
    if (!moves && now - since_ < gap_) return gap_;
    gap_ = moves ? kMin : std::min(gap_ * 2, kMax);
    reference_ = used;
    since_ = now;
    return gap_;
  }

  // Its memory moved at the last look that could tell.
  [[nodiscard]] bool is_moving() const { return gap_ == kMin; }
  [[nodiscard]] Instant last() const { return last_; }

 private:
  Bytes reference_{};  // found at since_
  Instant since_{};
  Instant last_{};  // look
  Duration gap_ = kMin;
};

}  // namespace plimsoll::policy
