#include "kernel/monitor/thresholds.h"

#include <algorithm>

namespace plimsoll::monitor {

std::optional<Thresholds> thresholds_for(const Reading& reading) {
  if (!reading.used || !reading.charged) return std::nullopt;
  const Bytes droppable = *reading.charged - *reading.used;
  const Bytes line = reading.bounds.line;
  return Thresholds{line - near_margin(line) + droppable, line + droppable};
}

bool are_misplaced(const Thresholds& now, const Thresholds& wanted, Bytes line) {
  const Bytes off = std::max(now[0] - wanted[0], wanted[0] - now[0]);
  return off.count > line.count / kMisplacedParts;
}

}  // namespace plimsoll::monitor
