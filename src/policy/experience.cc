#include "policy/experience.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace plimsoll::policy {
namespace {

double number(Bytes bytes) { return static_cast<double>(bytes.count); }
double number(Duration time) { return static_cast<double>(time.count()); }

// How far `point` is from the straight line between the two.
double deviation(const CurvePoint& from, const CurvePoint& to, const CurvePoint& point) {
  const double span = number(to.at - from.at);
  const double share = span > 0 ? number(point.at - from.at) / span : 0;
  const double line = number(from.used) + share * (number(to.used) - number(from.used));
  return std::abs(number(point.used) - line);
}

// The index of the point that is worst described by those kept (ascending indices); nothing if all
// are on the lines between them.
std::optional<std::size_t> worst(const std::vector<CurvePoint>& course,
                                 const std::vector<std::size_t>& kept) {
  std::optional<std::size_t> found;
  double furthest = 0;
  for (std::size_t k = 0; k + 1 < kept.size(); ++k) {
    for (std::size_t i = kept[k] + 1; i < kept[k + 1]; ++i) {
      const double off = deviation(course[kept[k]], course[kept[k + 1]], course[i]);
      if (off > furthest) {
        furthest = off;
        found = i;
      }
    }
  }
  return found;
}

}  // namespace

std::vector<CurvePoint> thin(std::vector<CurvePoint> course, std::size_t points_max) {
  PLIMSOLL_CHECK(points_max >= 2);
  if (course.size() <= points_max) return course;
  const auto less_used = [](const CurvePoint& a, const CurvePoint& b) { return a.used < b.used; };
  const auto highest = static_cast<std::size_t>(
      std::max_element(course.begin(), course.end(), less_used) - course.begin());
  std::vector<std::size_t> kept = {0, course.size() - 1};
  if (points_max == 2 && highest != 0) kept[1] = highest;
  const auto insert = [&kept](std::size_t index) {
    const auto place = std::lower_bound(kept.begin(), kept.end(), index);
    if (place == kept.end() || *place != index) kept.insert(place, index);
  };
  if (points_max > 2) insert(highest);
  while (kept.size() < points_max) {
    const auto next = worst(course, kept);
    if (!next) break;
    insert(*next);
  }
  std::vector<CurvePoint> thinned;
  thinned.reserve(kept.size());
  for (const std::size_t index : kept) thinned.push_back(course[index]);
  return thinned;
}

}  // namespace plimsoll::policy
