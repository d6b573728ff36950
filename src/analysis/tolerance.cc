#include "analysis/tolerance.h"

#include <cmath>

namespace plimsoll::analysis {

double confidence_of_rank(std::size_t rank, std::size_t count, double quantile) {
  if (rank == 0 || rank > count || quantile <= 0) return rank > 0 && rank <= count ? 1 : 0;
  if (quantile >= 1) return 0;
  const auto n = static_cast<double>(count);
  double below = 0;  // P(fewer than `rank` of `count` values lie below the quantile)
  for (std::size_t i = 0; i < rank; ++i) {
    const auto k = static_cast<double>(i);
    below += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                      k * std::log(quantile) + (n - k) * std::log1p(-quantile));
  }
  return below < 1 ? below : 1;
}

std::optional<std::size_t> covering_rank(std::size_t count, const Coverage& wanted) {
  if (count == 0 || confidence_of_rank(count, count, wanted.quantile) < wanted.confidence) {
    return std::nullopt;
  }
  std::size_t low = 1, high = count;  // the confidence rises with the rank
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (confidence_of_rank(middle, count, wanted.quantile) >= wanted.confidence) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace plimsoll::analysis
