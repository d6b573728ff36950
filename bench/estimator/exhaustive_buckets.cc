#include "estimator/exhaustive_buckets.h"

#include <algorithm>
#include <limits>

namespace plimsoll::bench {
namespace {

constexpr std::size_t kBucketsMax = 10;

}  // namespace

void ExhaustiveBuckets::learn(double peak) {
  const Seen seen{.peak = peak, .weight = static_cast<double>(++tasks_)};
  const auto is_less = [](const Seen& a, const Seen& b) { return a.peak < b.peak; };
  seen_.insert(std::upper_bound(seen_.begin(), seen_.end(), seen, is_less), seen);
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t count = 1; count <= kBucketsMax; ++count) {
    std::vector<Bucket> buckets = parted(count);
    const double wasted = waste(buckets);
    if (wasted >= least) continue;
    least = wasted;
    buckets_ = std::move(buckets);
  }
}

// Steps in which nothing was seen make no bucket.
std::vector<ExhaustiveBuckets::Bucket> ExhaustiveBuckets::parted(std::size_t count) const {
  std::vector<Bucket> buckets;
  const double step = seen_.back().peak / static_cast<double>(count);
  double end = 0;
  for (const Seen& seen : seen_) {
    if (buckets.empty() || seen.peak > end) {
      buckets.emplace_back();
      while (seen.peak > end && end < seen_.back().peak) end += step;
    }
    Bucket& bucket = buckets.back();
    bucket.mean = (bucket.mean * bucket.weight + seen.peak * seen.weight) /
                  (bucket.weight + seen.weight);
    bucket.weight += seen.weight;
    bucket.top = seen.peak;
  }
  return buckets;
}

// What a task is expected to waste: it is of a bucket, and draws one, and if that is too small, one
// of those above.
double ExhaustiveBuckets::waste(const std::vector<Bucket>& buckets) {
  double all = 0;
  for (const Bucket& bucket : buckets) all += bucket.weight;
  double expected = 0;
  for (std::size_t of = 0; of < buckets.size(); ++of) {
    std::vector<double> wasted(buckets.size());
    double above = 0;           // weight of the buckets above the one drawn
    double wasted_above = 0;    // by them, by weight
    for (std::size_t drawn = buckets.size(); drawn-- > 0;) {
      const Bucket& bucket = buckets[drawn];
      wasted[drawn] =
          drawn >= of ? bucket.top - buckets[of].mean : bucket.top + wasted_above / above;
      above += bucket.weight;
      wasted_above += bucket.weight * wasted[drawn];
    }
    expected += buckets[of].weight / all * wasted_above / all;
  }
  return expected;
}

double ExhaustiveBuckets::draw(const std::vector<Bucket>& buckets, std::size_t from,
                               std::mt19937_64& chance) {
  double all = 0;
  for (std::size_t i = from; i < buckets.size(); ++i) all += buckets[i].weight;
  double at = std::uniform_real_distribution<double>(0, all)(chance);
  std::size_t i = from;
  while (i + 1 < buckets.size() && at >= buckets[i].weight) at -= buckets[i++].weight;
  return buckets[i].top;
}

double ExhaustiveBuckets::choose(std::mt19937_64& chance) const {
  return draw(buckets_, 0, chance);
}

std::optional<double> ExhaustiveBuckets::choose_above(double failed,
                                                      std::mt19937_64& chance) const {
  std::size_t from = 0;
  while (from < buckets_.size() && buckets_[from].top <= failed) ++from;
  if (from == buckets_.size()) return std::nullopt;
  return draw(buckets_, from, chance);
}

}  // namespace plimsoll::bench
