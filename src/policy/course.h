#pragma once

#include <cstddef>
#include <vector>

#include "policy/experience.h"

namespace plimsoll::policy {

// How the memory of one attempt went, made ready for being asked often: bytes and seconds as
// floats, straight lines between the points.
class Course {
 public:
  // Of an experience; one without a curve is taken to rise soon to its peak and stay there. Before
  // the first point and after the last the value stays as there.
  explicit Course(const Experience& experience);

  // One place on the course, found once and asked several times.
  struct Place {
    std::size_t after = 0;  // the first point later than the place
    double seconds = 0;
  };
  [[nodiscard]] Place find(double seconds) const;
  // The same when `seconds` is not before `from`.
  [[nodiscard]] Place find(double seconds, const Place& from) const;

  // Bytes in use there.
  [[nodiscard]] double used(const Place& place) const;
  // The most up to there, and from there on.
  [[nodiscard]] double most_until(const Place& place) const;
  [[nodiscard]] double most_from(const Place& place) const;

 private:
  struct Point {
    float seconds = 0;
    float used = 0;
    float most_until = 0;  // of all points up to this one
    float most_from = 0;   // of this one and all later
  };
  std::vector<Point> points_;  // at least one, in order of time
};

}  // namespace plimsoll::policy
