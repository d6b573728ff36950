#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plimsoll::monitor {

// Memory has got where something must be done about it: which monitor says so, what it saw, and the
// numbers, whose names end with their unit.
struct Alarm {
  std::string_view monitor;  // "event", "pressure", "threshold"
  std::string reason;        // a sentence, without its full stop
  std::vector<std::pair<std::string_view, double>> numbers;
};

}  // namespace plimsoll::monitor
