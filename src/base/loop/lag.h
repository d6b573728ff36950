#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/units.h"

namespace plimsoll::loop {

// Half of the times it was at most so late, and 99 of a hundred: to the next power of two.
struct LagFigures {
  Duration p50{}, p99{}, max{};
};

// How late a loop came to what was due, over its whole life, in a few hundred bytes. Pure.
class Lag {
 public:
  void add(Duration late);
  [[nodiscard]] LagFigures figures() const;  // 0 before anything was due

 private:
  [[nodiscard]] Duration share(double part) const;

  static constexpr std::size_t kSteps = 40;  // from a microsecond on, doubled: to days
  std::array<std::uint64_t, kSteps> counts_{};
  std::uint64_t count_ = 0;
  Duration max_{};
};

}  // namespace plimsoll::loop
