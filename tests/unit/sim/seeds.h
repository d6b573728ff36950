#pragma once

#include <cstdint>
#include <cstdlib>

#include "base/text.h"

namespace plimsoll::sim {

// The first seed of a test that goes through many, 0 unless $PLIMSOLL_SEEDS_FROM says another: so
// that more than a usual run tries can be tried, piece by piece.
inline std::uint64_t seeds_from() {
  const char* const named = std::getenv("PLIMSOLL_SEEDS_FROM");
  return named != nullptr ? to_u64(named).value_or(0) : 0;
}

}  // namespace plimsoll::sim
