#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/units.h"

namespace plimsoll::cli {

// The file that a program's name means, by PATH; nothing if there is none that can be executed.
[[nodiscard]] std::optional<std::string> find_program(const std::string& name);

// A program that has not told its version by then tells none.
inline constexpr Duration kVersionPatience = std::chrono::seconds(5);

// What the program prints when it is asked for its version, on standard output and standard error:
// the beginning. Nothing if it can't be executed or takes too long; it is killed then. Waits.
[[nodiscard]] std::optional<std::string> version_text(const std::string& program,
                                                      const std::string& option);

}  // namespace plimsoll::cli
