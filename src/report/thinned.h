#pragma once

#include <cstddef>
#include <vector>

#include "base/check.h"
#include "base/units.h"

namespace plimsoll::report {

// Of `points`, in order of time, no more than `most`, which is 3 or more: the first, the last, and
// between them one for each of `most` - 2 equal stretches of time, the one whose gauges are the
// highest, first gauge first. So the highest of all is kept, unless the last stands in for it.
// `Traits` as counters::Series wants them.
template <class Traits, class Point>
std::vector<const Point*> thinned(const std::vector<const Point*>& points, std::size_t most) {
  PLIMSOLL_CHECK(most >= 3);
  if (points.size() <= most) return points;
  const auto stretches = static_cast<Duration::rep>(most - 2);
  const Duration begin = Traits::time_of(*points.front());
  // A nanosecond more than the share, so that the last point lies in no stretch of its own.
  const Duration length = (Traits::time_of(*points.back()) - begin) / stretches + Duration(1);
  std::vector<const Point*> kept{points.front()};
  Duration::rep present = -1;
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const Duration::rep stretch = (Traits::time_of(*points[i]) - begin) / length;
    if (stretch != present) {
      kept.push_back(points[i]);
      present = stretch;
    } else if (Traits::gauges(*points[i]) > Traits::gauges(*kept.back())) {
      kept.back() = points[i];
    }
  }
  kept.push_back(points.back());
  return kept;
}

}  // namespace plimsoll::report
