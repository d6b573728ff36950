#pragma once

#include <cstddef>

namespace plimsoll::policy {

// So many jobs of which nothing is known are started at first: if each takes a tenth of the
// machine, nothing is lost.
inline constexpr std::size_t kFirstWave = 4;

// And so many of one kind, until one of them has shown its needs.
inline constexpr std::size_t kFirstOfKind = 4;

// How many jobs of which nothing is known may be in their first seconds at once. Each that has
// shown its needs makes room for two, so it doubles with each wave; trouble brings it back to the
// first.
class SlowStart {
 public:
  void settled() { ++window_; }
  void trouble() { window_ = kFirstWave; }
  [[nodiscard]] std::size_t window() const { return window_; }
  // The same of one kind, of which so many have shown their needs.
  [[nodiscard]] static std::size_t window_of_kind(std::size_t settled) {
    return kFirstOfKind + settled;
  }

 private:
  std::size_t window_ = kFirstWave;
};

}  // namespace plimsoll::policy
