#pragma once

#include <optional>
#include <vector>

namespace plimsoll::policy {

// One attempt as a point: how large it was (what it had to read, say), and what came of it.
struct FitPoint {
  double input = 0;
  double value = 0;
  double weight = 0;
};

// A straight line through weighted points.
struct LineFit {
  double intercept = 0;
  double slope = 0;
  double mean_input = 0;
  double residual = 0;     // weighted standard deviation of the values around the line
  double correlation = 0;  // -1..1

  [[nodiscard]] double at(double input) const { return intercept + slope * input; }
};

// By least squares. Nothing for fewer than two different inputs.
[[nodiscard]] std::optional<LineFit> fit_line(const std::vector<FitPoint>& points);

}  // namespace plimsoll::policy
