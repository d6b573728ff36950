#include "store/history/columns.h"

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

std::string curve_text(const std::vector<policy::CurvePoint>& curve) {
  std::string text;
  for (const policy::CurvePoint& point : curve) {
    if (!text.empty()) text += ' ';
    text += std::to_string(point.at.count()) + ' ' + std::to_string(point.used.count);
  }
  return text;
}

std::optional<std::vector<policy::CurvePoint>> parse_curve(std::string_view text) {
  std::vector<policy::CurvePoint> curve;
  while (!text.empty()) {
    const auto at = to_i64(take_until(text, ' '));
    const auto used = to_u64(take_until(text, ' '));
    if (!at || *at < 0 || !used || curve.size() == policy::kCurvePointsMax) return std::nullopt;
    if (!curve.empty() && Duration(*at) < curve.back().at) return std::nullopt;
    curve.push_back({.at = Duration(*at), .used = Bytes{*used}});
  }
  return curve;
}

}  // namespace plimsoll::history
