#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "page/drawing.h"
#include "page/record.h"

// Memory over time, as a picture of a whole run shows it.
namespace plimsoll::page {

// Values from a time on, by time.
using Levels = std::vector<std::pair<Duration, double>>;

// A number that decisions were based on, whenever it became another one. The line is known from the
// start, and if no decision names it, from the run's own record.
[[nodiscard]] Levels levels_of(const Record& record, std::string_view number);

struct StackSize {
  std::size_t points = 2;  // of equal distance, from the start to the end of the run; two at least
  std::size_t groups = 0;  // the last has all classes beyond
};

// For each group of classes, in their order in Drawing::classes, the bytes of it and of all that
// come after it: what is drawn first is the whole. Between samples a straight line; a peak between
// two points counts for the nearer one. Samples are of last attempts alone.
[[nodiscard]] std::vector<std::vector<double>> stacked_memory(const Record& record,
                                                              const Drawing& drawing,
                                                              const StackSize& size);

}  // namespace plimsoll::page
