#include "analysis/rank_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>

namespace plimsoll::analysis {
namespace {

constexpr double kRangeMissed = 0.05;         // two-sided
constexpr double kNormalQuantile = 1.959964;  // of 1 - kRangeMissed / 2

std::vector<double> spread_out(std::vector<double> values) {
  if (values.size() <= kRankedMax) return values;
  std::vector<double> kept;
  for (std::size_t i = 0; i < kRankedMax; ++i) {
    kept.push_back(values[i * values.size() / kRankedMax]);
  }
  return kept;
}

// Twice the rank of each value, so that the mean rank of equal ones is whole too; and the sum of
// t^3 - t over all groups of t equal ones.
struct Ranks {
  std::vector<std::uint64_t> doubled;
  double ties = 0;
};

Ranks ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [values](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  Ranks ranks{.doubled = std::vector<std::uint64_t>(values.size())};
  for (std::size_t from = 0; from < order.size();) {
    std::size_t to = from;
    while (to < order.size() && values[order[to]] == values[order[from]]) ++to;
    for (std::size_t i = from; i < to; ++i) ranks.doubled[order[i]] = from + to + 1;
    const auto equal = static_cast<double>(to - from);
    ranks.ties += equal * equal * equal - equal;
    from = to;
  }
  return ranks;
}

double two_sided(double z) { return std::min(1.0, std::erfc(std::fabs(z) / std::sqrt(2.0))); }

// The two-sided p of `seen` in a distribution of sums, given as the share of each.
double two_sided(const std::vector<double>& shares, std::uint64_t seen) {
  double below = 0, above = 0;
  for (std::size_t sum = 0; sum < shares.size(); ++sum) {
    if (sum <= seen) below += shares[sum];
    if (sum >= seen) above += shares[sum];
  }
  return std::min(1.0, 2 * std::min(below, above));
}

// How large the sum of these ranks is if each counts or does not, evenly.
std::vector<double> sums_of_signs(const std::vector<std::uint64_t>& ranks) {
  const std::uint64_t most = std::accumulate(ranks.begin(), ranks.end(), std::uint64_t{0});
  std::vector<double> shares(most + 1);
  shares[0] = 1;
  for (const std::uint64_t rank : ranks) {
    for (std::uint64_t sum = most + 1; sum-- > 0;) {
      shares[sum] = (shares[sum] + (sum >= rank ? shares[sum - rank] : 0)) / 2;
    }
  }
  return shares;
}

// How large the sum of `chosen` of these ranks is, each choice as likely.
std::vector<double> sums_of_choices(const std::vector<std::uint64_t>& ranks, std::size_t chosen) {
  const std::uint64_t most = std::accumulate(ranks.begin(), ranks.end(), std::uint64_t{0});
  std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(most + 1));
  ways[0][0] = 1;
  for (const std::uint64_t rank : ranks) {
    for (std::size_t taken = chosen; taken > 0; --taken) {
      for (std::uint64_t sum = most + 1; sum-- > rank;) {
        ways[taken][sum] += ways[taken - 1][sum - rank];
      }
    }
  }
  std::vector<double> shares = std::move(ways[chosen]);
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= all;
  return shares;
}

double median_of(const std::vector<double>& sorted) {
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

// The values of `sorted` with `outside` of them on each side: the range that the test would not
// rule out.
std::optional<std::pair<double, double>> range_of(const std::vector<double>& sorted,
                                                  std::optional<std::size_t> outside) {
  if (!outside || 2 * *outside >= sorted.size()) return std::nullopt;
  return std::pair(sorted[*outside], sorted[sorted.size() - 1 - *outside]);
}

// How many of the values that a statistic counts may lie outside on one side: the most for which
// its lower tail is half of kRangeMissed at most. Nothing: not even none.
std::optional<std::size_t> outside_by(const std::vector<double>& shares) {
  double below = 0;
  for (std::size_t count = 0; count < shares.size(); ++count) {
    below += shares[count];
    if (below > kRangeMissed / 2) {
      return count == 0 ? std::nullopt : std::optional(count - 1);
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> outside_by_normal(double mean, double variance) {
  const double count = std::floor(mean - kNormalQuantile * std::sqrt(variance));
  if (count < 0) return std::nullopt;
  return static_cast<std::size_t>(count);
}

std::vector<double> plain_ranks_doubled(const std::vector<double>& shares) {
  std::vector<double> halved;
  for (std::size_t i = 0; i < shares.size(); i += 2) halved.push_back(shares[i]);
  return halved;
}

double signed_rank_p(const std::vector<double>& differences) {
  std::vector<double> sizes;
  for (const double difference : differences) {
    if (difference != 0) sizes.push_back(std::fabs(difference));
  }
  if (sizes.empty()) return 1;
  const Ranks ranks = ranks_of(sizes);
  std::uint64_t positive = 0;
  std::size_t at = 0;
  for (const double difference : differences) {
    if (difference == 0) continue;
    if (difference > 0) positive += ranks.doubled[at];
    ++at;
  }
  if (sizes.size() <= kExactPairsMax) return two_sided(sums_of_signs(ranks.doubled), positive);
  double variance = 0, mean = 0;
  for (const std::uint64_t rank : ranks.doubled) {
    const auto value = static_cast<double>(rank);
    mean += value / 2;
    variance += value * value / 4;
  }
  return two_sided((static_cast<double>(positive) - mean) / std::sqrt(variance));
}

// Of n values without ties, as the range wants it.
std::optional<std::size_t> outside_of_pairs(std::size_t n) {
  if (n <= kExactPairsMax) {
    std::vector<std::uint64_t> ranks(n);
    for (std::size_t i = 0; i < n; ++i) ranks[i] = 2 * (i + 1);
    return outside_by(plain_ranks_doubled(sums_of_signs(ranks)));
  }
  const auto count = static_cast<double>(n);
  return outside_by_normal(count * (count + 1) / 4, count * (count + 1) * (2 * count + 1) / 24);
}

std::optional<std::size_t> outside_of_sets(std::size_t before, std::size_t after) {
  if (before + after <= kExactValuesMax) {
    std::vector<std::uint64_t> ranks(before + after);
    for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = 2 * (i + 1);
    std::vector<double> shares = plain_ranks_doubled(sums_of_choices(ranks, after));
    // The count of pairs, which begins at 0: less the least sum of ranks.
    const auto least = static_cast<std::ptrdiff_t>(after * (after + 1) / 2);
    shares.erase(shares.begin(), shares.begin() + least);
    return outside_by(shares);
  }
  const auto m = static_cast<double>(before), n = static_cast<double>(after);
  return outside_by_normal(m * n / 2, m * n * (m + n + 1) / 12);
}

double rank_sum_p(const std::vector<double>& before, const std::vector<double>& after) {
  std::vector<double> all = after;
  all.insert(all.end(), before.begin(), before.end());
  const Ranks ranks = ranks_of(all);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < after.size(); ++i) sum += ranks.doubled[i];
  if (all.size() <= kExactValuesMax) {
    return two_sided(sums_of_choices(ranks.doubled, after.size()), sum);
  }
  const auto m = static_cast<double>(before.size()), n = static_cast<double>(after.size());
  const double count = m + n;
  const double variance =
      4 * (m * n / 12) * (count + 1 - ranks.ties / (count * (count - 1)));  // of doubled ranks
  if (variance <= 0) return 1;
  return two_sided((static_cast<double>(sum) - n * (count + 1)) / std::sqrt(variance));
}

}  // namespace

Change paired_change(std::vector<double> differences) {
  differences = spread_out(std::move(differences));
  Change change{.p = signed_rank_p(differences), .count = differences.size()};
  std::vector<double> means;  // of each two, and of each with itself
  for (std::size_t i = 0; i < differences.size(); ++i) {
    for (std::size_t j = i; j < differences.size(); ++j) {
      means.push_back((differences[i] + differences[j]) / 2);
    }
  }
  std::sort(means.begin(), means.end());
  change.log_ratio = median_of(means);
  change.range = range_of(means, outside_of_pairs(differences.size()));
  return change;
}

Change unpaired_change(std::vector<double> before, std::vector<double> after) {
  before = spread_out(std::move(before));
  after = spread_out(std::move(after));
  Change change{.p = rank_sum_p(before, after), .count = std::min(before.size(), after.size())};
  std::vector<double> differences;
  for (const double one : before) {
    for (const double other : after) differences.push_back(other - one);
  }
  std::sort(differences.begin(), differences.end());
  change.log_ratio = median_of(differences);
  change.range = range_of(differences, outside_of_sets(before.size(), after.size()));
  return change;
}

std::vector<double> adjusted(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&p](std::size_t a, std::size_t b) { return p[a] > p[b]; });
  std::vector<double> result(p.size(), 1);
  double least = 1;
  for (std::size_t i = 0; i < order.size(); ++i) {  // from the largest
    const auto rank = static_cast<double>(order.size() - i);
    least = std::min(least, p[order[i]] * static_cast<double>(order.size()) / rank);
    result[order[i]] = least;
  }
  return result;
}

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
