#include "policy/course.h"

#include <algorithm>

namespace plimsoll::policy {
namespace {

// Of an attempt whose course is not known: the share of its time by which it has its peak, and the
// share of the peak that it starts with. Guesses that err on the side of early.
constexpr double kRiseTime = 0.1;
constexpr double kRiseStart = 0.3;

float seconds(Duration time) { return std::chrono::duration<float>(time).count(); }
float number(Bytes bytes) { return static_cast<float>(bytes.count); }

}  // namespace

Course::Course(const Experience& experience) {
  const float peak = number(experience.peak);
  if (experience.curve.empty()) {
    points_.push_back({0, static_cast<float>(kRiseStart) * peak, 0, 0});
    points_.push_back({static_cast<float>(kRiseTime) * seconds(experience.ran), peak, 0, 0});
  }
  for (const CurvePoint& point : experience.curve) {
    points_.push_back({seconds(point.at), number(point.used), 0, 0});
  }
  // A peak between two samples is known to the kernel alone; it belongs where most was seen.
  const auto less = [](const Point& a, const Point& b) { return a.used < b.used; };
  const auto highest = std::max_element(points_.begin(), points_.end(), less);
  highest->used = std::max(highest->used, peak);
  float most = 0;
  for (Point& point : points_) point.most_until = most = std::max(most, point.used);
  most = 0;
  for (auto point = points_.rbegin(); point != points_.rend(); ++point) {
    point->most_from = most = std::max(most, point->used);
  }
}

Course::Place Course::find(double seconds) const {
  const auto later = [](double at, const Point& point) { return at < double{point.seconds}; };
  const auto after = std::upper_bound(points_.begin(), points_.end(), seconds, later);
  return {static_cast<std::size_t>(after - points_.begin()), seconds};
}

Course::Place Course::find(double seconds, const Place& from) const {
  Place place{from.after, seconds};
  while (place.after < points_.size() && double{points_[place.after].seconds} <= seconds) {
    ++place.after;
  }
  return place;
}

double Course::used(const Place& place) const {
  if (place.after == 0) return points_.front().used;
  if (place.after == points_.size()) return points_.back().used;
  const Point& from = points_[place.after - 1];
  const Point& to = points_[place.after];
  const double share = (place.seconds - from.seconds) / (double{to.seconds} - from.seconds);
  return from.used + share * (double{to.used} - from.used);
}

double Course::most_until(const Place& place) const {
  const double before = place.after == 0 ? 0 : double{points_[place.after - 1].most_until};
  return std::max(before, used(place));
}

double Course::most_from(const Place& place) const {
  const double beyond = place.after == points_.size() ? 0 : double{points_[place.after].most_from};
  return std::max(beyond, used(place));
}

}  // namespace plimsoll::policy
