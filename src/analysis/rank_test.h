#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

// Whether what two sets of jobs have shown differs by more than chance: tests by rank, which ask
// nothing of the distribution and which single outliers do not move. Values are differences of
// logarithms, so that a change is a ratio.
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

}  // namespace plimsoll::analysis
