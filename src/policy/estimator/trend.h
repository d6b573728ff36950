#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "policy/estimator/line_fit.h"
#include "policy/estimator/past_attempt.h"
#include "policy/estimator/sizes.h"

namespace plimsoll::policy {

// How a figure of an attempt follows from one of its sizes.
struct Trend {
  std::size_t size = Sizes::kInput;  // which of them
  std::size_t numbers = 0;           // that such a command has; for the input: of no account
  LineFit line;

  // The size that counts; nothing where it is not known, and for a command of another form.
  [[nodiscard]] std::optional<double> of(const Sizes& sizes) const;
  // How many times the figure at `from` that at `to` is, within 1/most and `most`; 1 where that
  // can't be told.
  [[nodiscard]] double ratio(const Sizes& from, const Sizes& to, double most) const;
  [[nodiscard]] double ratio(double from, double to, double most) const;
};

// The size that explains these figures, one for each attempt of the record, best; nothing if none
// does. Of many numbers that have nothing to do with it one fits a few attempts by chance: so a
// number must have had several values, and the fewer it had the closer it has to fit.
[[nodiscard]] std::optional<Trend> find_trend(const PastAttempt& record,
                                              const std::vector<Weighted>& figures);

}  // namespace plimsoll::policy
