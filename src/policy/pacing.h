#pragma once

#include <cstddef>

namespace plimsoll::policy {

// So many jobs of which nothing is known are started at first: if each takes a tenth of the
// machine, nothing is lost.
inline constexpr std::size_t kFirstWave = 4;

// How many jobs of which nothing is known may be in their first seconds at once. Each that has
// shown its needs makes room for two, so it doubles with each wave; trouble brings it back to the
// first.
class Pacing {
 public:
  [[nodiscard]] bool may_start(std::size_t unsettled) const { return unsettled < window_; }
  void settled() { ++window_; }
  void trouble() { window_ = kFirstWave; }
  [[nodiscard]] std::size_t window() const { return window_; }

 private:
  std::size_t window_ = kFirstWave;
};

}  // namespace plimsoll::policy
