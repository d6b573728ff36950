#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "policy/estimator/attempt_summary.h"

namespace plimsoll::policy {

// How the memory of one attempt went, made ready for being asked often: bytes and seconds as
// floats, straight lines between the points.
class MemoryCurve {
 public:
  // Of an experience; one without a curve is taken to rise soon to its peak and stay there. Before
  // the first point and after the last the value stays as there.
  explicit MemoryCurve(const AttemptSummary& attempt_summary);

  // One place on the course, found once and asked several times.
  struct Place {
    std::size_t after = 0;  // the first point later than the place
    double seconds = 0;
  };
  [[nodiscard]] Place find(double seconds) const {
    const auto sought = static_cast<float>(seconds);
    std::uint32_t after = 0;  // counting all is quicker than searching: no branch to guess wrong
    for (const float at : seconds_) after += at <= sought ? 1U : 0U;
    return {after, seconds};
  }
  // The same when `seconds` is not before `from`.
  [[nodiscard]] Place find(double seconds, const Place& from) const {
    const auto sought = static_cast<float>(seconds);
    Place place{from.after, seconds};
    while (place.after < size_ && seconds_[place.after] <= sought) ++place.after;
    return place;
  }

  // Bytes in use there.
  [[nodiscard]] double used(const Place& place) const {
    if (place.after == 0) return used_.front();
    if (place.after == size_) return used_[size_ - 1];
    const double from = seconds_[place.after - 1];
    const double to = seconds_[place.after];
    const double share = std::clamp((place.seconds - from) / (to - from), 0.0, 1.0);
    return used_[place.after - 1] + share * (double{used_[place.after]} - used_[place.after - 1]);
  }
  // The most between two places.
  [[nodiscard]] double most_between(const Place& from, const Place& to) const {
    double most = std::max(used(from), used(to));
    for (std::size_t i = from.after; i < to.after; ++i) most = std::max(most, double{used_[i]});
    return most;
  }
  [[nodiscard]] double least_between(const Place& from, const Place& to) const {
    double least = std::min(used(from), used(to));
    for (std::size_t i = from.after; i < to.after; ++i) least = std::min(least, double{used_[i]});
    return least;
  }
  // The most up to there, and from there on, if `used` is what is in use there.
  [[nodiscard]] double most_until(const Place& place, double used) const {
    return place.after == 0 ? used : std::max(used, double{most_until_[place.after - 1]});
  }
  [[nodiscard]] double most_from(const Place& place, double used) const {
    return place.after == size_ ? used : std::max(used, double{most_from_[place.after]});
  }

 private:
  void add(float seconds, float used);

  // Side by side, so that a search reads two cache lines.
  using Column = std::array<float, kCurvePointsMax>;
  std::size_t size_ = 0;  // at least one, in order of time; beyond, seconds_ are infinite
  Column seconds_;
  Column used_{};
  Column most_until_{};  // of all points up to this one
  Column most_from_{};   // of this one and all later
};

}  // namespace plimsoll::policy
