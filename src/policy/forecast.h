#pragma once

#include "policy/estimate.h"
#include "policy/line_fit.h"
#include "policy/record.h"
#include "policy/track.h"

// What earlier attempts tell of the next one, and of one that runs.
namespace plimsoll::policy {

// What the size of the input tells of the attempt at hand: where the past shows that it matters,
// each past attempt counts for what it would have used with this input.
struct BySize {
  double input = 0;
  const LineFit* peak = nullptr;     // null: it does not explain the peak
  const LineFit* seconds = nullptr;  // null: it does not explain the running time
};

// An estimate from a record, and how well the record explains what is seen: the likelihood of the
// track so far, where 1 is what a perfect match has. Sets all of `estimate` but its basis.
struct Forecast {
  Estimate estimate;
  double likelihood = 1;
};

// `record` is not empty.
[[nodiscard]] Forecast forecast(const Record& record, const BySize& size);
[[nodiscard]] Forecast forecast(const Record& record, const BySize& size, const Track& track);

}  // namespace plimsoll::policy
