#pragma once

#include <array>
#include <optional>

#include "base/units.h"
#include "kernel/monitor/reading.h"

namespace plimsoll::monitor {

// What the pool may be charged with before it is looked at: close to the line, and at it.
using Thresholds = std::array<Bytes, 2>;

// Thresholds are set anew when they are off by this share of the line: setting one takes the kernel
// 10 to 30 ms.
inline constexpr std::uint64_t kMisplacedParts = 64;

// The kernel compares the charge, clean page cache included, with a threshold: what can be dropped
// is put on top of the line. Absent if the pool could not be read.
[[nodiscard]] std::optional<Thresholds> thresholds_for(const Reading& reading);

// Whether these are too far from where they should be.
[[nodiscard]] bool are_misplaced(const Thresholds& now, const Thresholds& wanted, Bytes line);

}  // namespace plimsoll::monitor
