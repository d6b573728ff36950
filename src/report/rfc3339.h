#pragma once

#include <string>

#include "base/units.h"

namespace plimsoll::report {

// A moment as RFC 3339 has it, in UTC: "2026-01-02T03:04:05.6Z". A fraction of up to nine digits
// without the zeros at its end; none for a whole second.
[[nodiscard]] std::string rfc3339(WallTime time);

}  // namespace plimsoll::report
