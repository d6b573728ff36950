#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

// Ways to say beforehand how much an attempt will use, from earlier ones: candidates, of which
// `sizing.h` finds out which one is right for a class.
namespace plimsoll::policy {

enum class SizeModel : std::uint8_t {
  mean,       // what they used on average
  line,       // a straight line over the size of the input
  power,      // a straight line over the logarithms of both
  nearest,    // what the one with the most similar input used
  nearest_3,  // the most that one of the three most similar used
  nearest_6,  //
};
inline constexpr std::size_t kSizeModels = 6;

// By SizeModel, in bytes and above 0; nothing where the model can't tell.
using Predictions = std::array<std::optional<double>, kSizeModels>;

// One attempt that has ended.
struct SizedRun {
  double peak = 0;              // bytes, above 0
  double seconds = 0;           //
  std::optional<double> input;  // bytes
  Predictions predicted{};      // what was said of it before it ran
};

// `past`: oldest first; newer ones count for more. `input`: of the attempt to come.
[[nodiscard]] Predictions predict(const std::deque<SizedRun>& past, std::optional<double> input);

// How much the run at `index` of `count` counts: the newest 1, the one `half_life` runs older half.
[[nodiscard]] double recency(std::size_t index, std::size_t count, double half_life);

}  // namespace plimsoll::policy
