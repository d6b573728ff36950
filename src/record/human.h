#pragma once

#include <string>

#include "base/units.h"

// Quantities for people: three digits and a unit.
namespace plimsoll::record {

[[nodiscard]] std::string bytes_text(Bytes bytes);           // "512 B", "1.50 KiB", "12.0 GiB"
[[nodiscard]] std::string duration_text(Duration duration);  // "0 s", "12.0 ms", "1m 05s", "2h 03m"

}  // namespace plimsoll::record
