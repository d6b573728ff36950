#pragma once

#include <string>

#include "base/units.h"

// Quantities as the governor's sentences show them.
namespace plimsoll::policy::words {

[[nodiscard]] std::string bytes(double bytes);      // "3.2 GiB"
[[nodiscard]] std::string decimal(double value);    // "12", "3.4"
[[nodiscard]] std::string percent(double share);    // "42 %"
[[nodiscard]] std::string ahead(Duration horizon);  // "now", "in 40 s"
[[nodiscard]] std::string span(Duration span);      // "1m20s"

}  // namespace plimsoll::policy::words
