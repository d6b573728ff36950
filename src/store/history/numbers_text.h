#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::history {

// The numbers of a command as they are stored: separated by single spaces, with as many digits as
// make them the same again.
[[nodiscard]] std::string numbers_text(const std::vector<double>& numbers);

// Nothing for a text of another form, and for more than policy::kNumbersMax of them.
[[nodiscard]] std::optional<std::vector<double>> parse_numbers(std::string_view text);

}  // namespace plimsoll::history
