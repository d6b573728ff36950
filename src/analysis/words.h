#pragma once

#include <string>

// Numbers as the texts of this room show them.
namespace plimsoll::analysis {

inline constexpr double kPercent = 100;

[[nodiscard]] std::string percent_text(double share);    // "62 %"
[[nodiscard]] std::string change_text(double share);     // "+12.5 %"
[[nodiscard]] std::string seconds_text(double seconds);  // "1m20s"
// What a difference of logarithms is as a change: 0 for none, 1 for twice as much.
[[nodiscard]] double share_of_change(double log_ratio);

// `text` with each byte that is no part of a UTF-8 character as U+FFFD.
[[nodiscard]] std::string utf8(const std::string& text);

}  // namespace plimsoll::analysis
