#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/estimator/attempt_summary.h"

namespace plimsoll::history {

// The numbers of a command as they are stored: separated by single spaces, with as many digits as
// make them the same again.
[[nodiscard]] std::string numbers_text(const std::vector<double>& numbers);

// Nothing for a text of another form, and for more than policy::kNumbersMax of them.
[[nodiscard]] std::optional<std::vector<double>> parse_numbers(std::string_view text);

// A curve as it is stored: "NANOSECONDS BYTES" for each point, all separated by single spaces.
[[nodiscard]] std::string curve_text(const std::vector<policy::CurvePoint>& curve);

// Nothing for a text of another form, for points that are not in order of time, and for more than
// policy::kCurvePointsMax of them.
[[nodiscard]] std::optional<std::vector<policy::CurvePoint>> parse_curve(std::string_view text);

}  // namespace plimsoll::history
