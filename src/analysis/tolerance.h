#pragma once

#include <cstddef>
#include <optional>

// What a few attempts say of those to come, whatever their distribution: bounds by rank.
namespace plimsoll::analysis {

// The share `quantile` of all that will ever come is to lie at or below a bound, and the bound is
// to hold with this confidence.
struct Coverage {
  double quantile = 0.95;
  double confidence = 0.95;
};

// The rank (1: the smallest) of the lowest of `count` independent values that is such a bound. The
// value of rank k lies at or above the quantile unless k or more of the values lie below that, each
// of which does so with the probability `quantile`: a binomial sum. Nothing: not even the largest
// is one, for which log(1 - confidence) / log(quantile) values are needed (59 for 95 % and 95 %).
[[nodiscard]] std::optional<std::size_t> covering_rank(std::size_t count, const Coverage& wanted);

// With which confidence the value of this rank covers `quantile`, 0..1.
[[nodiscard]] double confidence_of_rank(std::size_t rank, std::size_t count, double quantile);

}  // namespace plimsoll::analysis
