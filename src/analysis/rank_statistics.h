#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

// What can be said by the ranks of values alone, whatever their distribution, so that single
// outliers do not move it: whether what two sets of jobs have shown differs by more than chance,
// and what a few attempts say of those to come. Changes are differences of logarithms, so that each
// is a ratio.
namespace plimsoll::analysis {

// The change from one set to the other: e to the power of it is the ratio.
struct Change {
  double log_ratio = 0;  // the Hodges-Lehmann estimate
  // In which it lies with 95 % confidence; nothing: too few values for any such range.
  std::optional<std::pair<double, double>> range{};
  double p = 1;           // of a difference so large by chance alone, two-sided
  std::size_t count = 0;  // pairs, or values of the smaller set
};

// Below so many values ranks are counted out exactly, above they are as good as normal.
inline constexpr std::size_t kExactPairsMax = 40;
inline constexpr std::size_t kExactValuesMax = 30;  // of both sets
// So many values are looked at, spread evenly over those given: a square of them is sorted.
inline constexpr std::size_t kRankedMax = 400;

// Of the same jobs in both runs: Wilcoxon's signed-rank test of the differences. Pairs that do not
// differ count for neither side. At least one.
[[nodiscard]] Change paired_change(std::vector<double> differences);

// Of different jobs: the rank sum test of Mann, Whitney and Wilcoxon. At least one of each.
[[nodiscard]] Change unpaired_change(std::vector<double> before, std::vector<double> after);

// The same p values when many tests were made at once, by Benjamini and Hochberg: of those that are
// then below a bound at most that share is expected to be chance. In the order given.
[[nodiscard]] std::vector<double> adjusted(const std::vector<double>& p);

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
