#pragma once

namespace plimsoll::daemon {

// Priorities that a client may ask for are -kPriorityMax to kPriorityMax: enough for any order, and
// beyond what weights of CPU and I/O can tell apart.
inline constexpr int kPriorityMax = 1000;
inline constexpr const char* kPriorityRange = "-1000 to 1000";

[[nodiscard]] constexpr bool is_priority(int value) {
  return value >= -kPriorityMax && value <= kPriorityMax;
}

}  // namespace plimsoll::daemon
