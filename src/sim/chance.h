#pragma once

#include <cstdint>
#include <random>

#include "sim/machine_config.h"

namespace plimsoll::sim {

// What varies on a real machine, by a seed; or does not.
class Chance {
 public:
  Chance(Noise noise, std::uint64_t seed) : noise_(noise), random_(seed) {}

  // 0..1, or always 0. The same everywhere, which the library's distributions are not.
  [[nodiscard]] double share() { return noise_ == Noise::none ? 0 : random(); }
  // Up to `most` more or less; or none.
  [[nodiscard]] double wobble(double most) {
    return noise_ == Noise::none ? 0 : most * (2 * random() - 1);
  }

 private:
  double random() {
    constexpr unsigned kBitsOver = 64 - 53;  // of a double
    return static_cast<double>(random_() >> kBitsOver) * 0x1p-53;
  }

  Noise noise_;
  std::mt19937_64 random_;
};

}  // namespace plimsoll::sim
