#include "policy/estimator/attempt_summary.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <utility>

#include "base/check.h"

namespace plimsoll::policy {
namespace {

struct Corner {
  double x = 0;
  double y = 0;
};

// The course as it counts: half of the width for time as it is, half for its logarithm. So a start
// of seconds is not lost in a run of hours, nor a late peak in the long time before it.
std::vector<Corner> corners_of(const std::vector<CurvePoint>& course) {
  const double end = std::max(to_seconds(course.back().at), 1.0);
  std::vector<Corner> corners;
  corners.reserve(course.size());
  for (const CurvePoint& point : course) {
    const double at = std::max(0.0, to_seconds(point.at));
    corners.push_back({at / end + std::log1p(at) / std::log1p(end), to_double(point.used)});
  }
  return corners;
}

// Twice the area of the triangle: what the course would lose without the point in the middle.
double area(const Corner& a, const Corner& b, const Corner& c) {
  return std::abs((b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y));
}

struct Link {
  std::size_t before = 0;
  std::size_t after = 0;
  double area = 0;  // with its present neighbours
  bool gone = false;
};

}  // namespace

// Points go by area (Visvalingam and Whyatt, 1993), not by distance: short dips and spikes of a
// course that wobbles go first, and its mean stays.
std::vector<CurvePoint> thin(std::vector<CurvePoint> course, std::size_t points_max) {
  PLIMSOLL_CHECK(points_max >= 3);
  if (course.size() <= points_max) return course;
  const auto less_used = [](const CurvePoint& a, const CurvePoint& b) { return a.used < b.used; };
  const auto highest = static_cast<std::size_t>(
      std::max_element(course.begin(), course.end(), less_used) - course.begin());
  const std::vector<Corner> corners = corners_of(course);
  std::vector<Link> links(course.size());
  using Candidate = std::pair<double, std::size_t>;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> smallest;
  const auto weigh = [&](std::size_t i) {
    links[i].area = area(corners[links[i].before], corners[i], corners[links[i].after]);
    if (i != highest) smallest.emplace(links[i].area, i);
  };
  for (std::size_t i = 1; i + 1 < course.size(); ++i) {
    links[i] = {.before = i - 1, .after = i + 1};
    weigh(i);
  }
  for (std::size_t left = course.size(); left > points_max && !smallest.empty();) {
    const auto [lost, i] = smallest.top();
    smallest.pop();
    if (links[i].gone || lost != links[i].area) continue;  // weighed again since
    links[i].gone = true;
    --left;
    const auto [before, after] = std::pair(links[i].before, links[i].after);
    links[before].after = after;
    links[after].before = before;
    if (before != 0) weigh(before);
    if (after + 1 != course.size()) weigh(after);
  }
  std::vector<CurvePoint> thinned;
  for (std::size_t i = 0; i < course.size(); ++i) {
    if (!links[i].gone) thinned.push_back(course[i]);
  }
  return thinned;
}

}  // namespace plimsoll::policy
