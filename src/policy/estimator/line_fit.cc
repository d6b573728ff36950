#include "policy/estimator/line_fit.h"

#include <algorithm>
#include <cmath>

namespace plimsoll::policy {

std::optional<LineFit> fit_line(const std::vector<FitPoint>& points) {
  double weight = 0;
  double inputs = 0;
  double values = 0;
  for (const FitPoint& point : points) {
    weight += point.weight;
    inputs += point.weight * point.input;
    values += point.weight * point.value;
  }
  if (weight <= 0) return std::nullopt;
  LineFit fit;
  fit.mean_input = inputs / weight;
  const double mean_value = values / weight;
  double input_square = 0;
  double value_square = 0;
  double product = 0;
  for (const FitPoint& point : points) {
    const double dx = point.input - fit.mean_input;
    const double dy = point.value - mean_value;
    input_square += point.weight * dx * dx;
    value_square += point.weight * dy * dy;
    product += point.weight * dx * dy;
  }
  // Inputs that differ by rounding alone make a line of no meaning.
  constexpr double kSame = 1e-12;
  if (input_square <= kSame * weight * fit.mean_input * fit.mean_input) return std::nullopt;
  fit.slope = product / input_square;
  fit.intercept = mean_value - fit.slope * fit.mean_input;
  fit.residual = std::sqrt(std::max(0.0, value_square - fit.slope * product) / weight);
  fit.correlation = value_square > 0 ? product / std::sqrt(input_square * value_square) : 0;
  return fit;
}

}  // namespace plimsoll::policy
