#include "policy/estimator/numbers.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "policy/estimator/program.h"

namespace plimsoll::policy {
namespace {

// What a letter behind a number makes of it: 1 for one that is none of them, such as the `s` of a
// duration; nothing for more than a unit.
std::optional<double> factor_of(std::string_view unit) {
  if (unit.empty()) return 1;
  constexpr std::string_view kPowers = "kmgt";  // of 1024
  const char first = unit.front() >= 'A' && unit.front() <= 'Z'
                         ? static_cast<char>(unit.front() - 'A' + 'a')
                         : unit.front();
  const std::string_view rest = unit.substr(1);
  const std::size_t power = kPowers.find(first);
  if (power != std::string_view::npos && (rest.empty() || rest == "B" || rest == "iB")) {
    return std::exp2(10.0 * static_cast<double>(power + 1));
  }
  return rest.empty() && (unit == "s" || unit == "x" || unit == "%") ? std::optional(1.0)
                                                                     : std::nullopt;
}

std::optional<double> number_in(std::string_view word) {
  const std::string_view digits = word.substr(word.starts_with('+') || word.starts_with('-'));
  // "inf" and "nan" are words.
  if (digits.empty() || !(is_digit(digits.front()) || digits.front() == '.')) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc()) return std::nullopt;
  const auto factor = factor_of(digits.substr(static_cast<std::size_t>(end - digits.data())));
  if (!factor || !std::isfinite(value * *factor)) return std::nullopt;
  return word.starts_with('-') ? -value * *factor : value * *factor;
}

std::optional<double> number_of(std::string_view word) {
  if (const auto whole = number_in(word)) return whole;
  if (const std::size_t equals = word.find('='); equals != std::string_view::npos) {
    return number_in(word.substr(equals + 1));
  }
  constexpr std::size_t kLevelLength = 3;  // -O2 is part of the signature
  if (word.size() > kLevelLength && word.front() == '-' && is_digit(word[2])) {
    return number_in(word.substr(2));
  }
  return std::nullopt;
}

}  // namespace

std::vector<double> numbers_of(const Command& command) {
  std::vector<double> numbers;
  for (const std::string& word : program_of(command).arguments) {
    if (numbers.size() == kNumbersMax) break;
    if (const auto number = number_of(word)) numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace plimsoll::policy
