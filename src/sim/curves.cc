#include "sim/curves.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace plimsoll::sim {

Curve::Curve(std::vector<CurvePoint> points) : points_(std::move(points)) {
  PLIMSOLL_CHECK(!points_.empty());
  const double begin = points_.front().seconds;
  for (CurvePoint& point : points_) point.seconds -= begin;
  for (std::size_t i = 1; i < points_.size(); ++i) {
    points_[i].seconds = std::max(points_[i].seconds, points_[i - 1].seconds + kTwiceGap);
  }
  if (points_.size() == 1) {
    points_.push_back(points_.front());
    points_.back().seconds = kSinglePointHeld;
  }
  if (points_.front().mib > 0) {
    CurvePoint allocated = points_.front();
    // At most half-way to the second point, which stays where it is.
    allocated.seconds =
        std::min(double{allocated.mib} / kFirstAllocationRate, points_[1].seconds / 2);
    points_.front().mib = 0;
    points_.insert(points_.begin() + 1, allocated);
  }
  for (std::size_t i = 0; i < points_.size(); ++i) {
    peak_mib_ = std::max(peak_mib_, double{points_[i].mib});
    if (i == 0) continue;
    const double gap = points_[i].seconds - points_[i - 1].seconds;
    cpu_seconds_ += double{points_[i - 1].cores} * gap;
    mib_seconds_ += (double{points_[i - 1].mib} + double{points_[i].mib}) / 2 * gap;
  }
}

}  // namespace plimsoll::sim
