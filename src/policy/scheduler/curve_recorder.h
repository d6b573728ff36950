#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "policy/estimator/attempt_summary.h"

namespace plimsoll::policy {

// The course of one attempt's memory, thinned as it grows, for those that learn from it.
class CurveRecorder {
 public:
  void add(Duration ran, Bytes used) {
    if (!points_.empty() && ran <= points_.back().at) return;
    points_.push_back({.at = ran, .used = used});
    if (points_.size() >= kPointsMax) points_ = thin(std::move(points_), kPointsMax / 2);
  }
  // At most kCurvePointsMax points.
  [[nodiscard]] std::vector<CurvePoint> course() const { return thin(points_); }

 private:
  // Four times what is kept, so that a thinning loses little and is rare: 4 KiB a running attempt.
  static constexpr std::size_t kPointsMax = 4 * kCurvePointsMax;
  std::vector<CurvePoint> points_;
};

}  // namespace plimsoll::policy
