#pragma once

#include <chrono>
#include <cstdint>

#include "base/units.h"
#include "policy/estimator/estimate.h"

namespace plimsoll::policy {

// What past attempts must have shown of a command that starts without waiting and without a group
// of its own: to move a process costs some 10 ms on some kernels, more than the whole life of most.
// Guesses: such a command would gain little by a group, and does little harm without.
inline constexpr std::uint32_t kSmallKnownMin = 4;  // attempts of its class
inline constexpr Bytes kSmallPeak{std::uint64_t{32} << 20};
inline constexpr Duration kSmallRun = std::chrono::milliseconds(250);
[[nodiscard]] bool is_small(const Estimate& estimate);

}  // namespace plimsoll::policy
