#include "policy/hint_trust.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "policy/record.h"

namespace plimsoll::policy {
namespace {

// So many classes are remembered: users change.
constexpr std::size_t kSharesMax = 32;
// Before anything is known a hint is taken at its word, as if that had been seen twice.
constexpr double kWordWeight = 2;
// How far a hint may be off, as a share.
constexpr double kDoubt = 0.5;
// From so many classes on less than the hint is set aside: half as much again as the largest share.
constexpr std::size_t kClassesMin = 3;
constexpr double kBeyond = 1.5;

double number(Bytes bytes) { return static_cast<double>(bytes.count); }

}  // namespace

void HintTrust::learn(Bytes hint, Bytes peak) {
  PLIMSOLL_CHECK(hint.count > 0);
  if (shares_.size() == kSharesMax) shares_.pop_front();
  shares_.push_back(number(peak) / number(hint));
}

Belief HintTrust::expect(Bytes hint) const {
  std::vector<Weighted> values = {{1, kWordWeight}};
  for (const double share : shares_) values.push_back({share, 1});
  const Belief share = believe(values, kDoubt);
  return {share.mean * number(hint), share.spread * number(hint)};
}

Bytes HintTrust::reservation(Bytes hint) const {
  if (shares_.size() < kClassesMin) return hint;
  const double largest = *std::max_element(shares_.begin(), shares_.end());
  return {static_cast<std::uint64_t>(std::ceil(number(hint) * std::min(1.0, largest * kBeyond)))};
}

}  // namespace plimsoll::policy
