#include "store/history/numbers_text.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "policy/estimator/numbers.h"

namespace plimsoll::history {

std::string numbers_text(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers) {
    std::array<char, 32> digits{};  // a double takes 24 at most
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc()) continue;
    if (!text.empty()) text += ' ';
    text.append(digits.data(), end);
  }
  return text;
}

std::optional<std::vector<double>> parse_numbers(std::string_view text) {
  std::vector<double> numbers;
  while (!text.empty()) {
    const std::string_view digits = take_until(text, ' ');
    double number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(number) ||
        numbers.size() == policy::kNumbersMax) {
      return std::nullopt;
    }
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace plimsoll::history
