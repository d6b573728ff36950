#pragma once

#include <chrono>

#include "base/units.h"

namespace plimsoll::supervisor {

// The time of day, for what people and other programs read; it may jump.
inline WallTime wall_now() { return std::chrono::system_clock::now(); }

}  // namespace plimsoll::supervisor
