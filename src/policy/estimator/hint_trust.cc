#include "policy/estimator/hint_trust.h"

#include <vector>

#include "base/check.h"
#include "policy/estimator/past_attempt.h"

namespace plimsoll::policy {
namespace {

// So many classes are remembered: users change.
constexpr std::size_t kSharesMax = 32;
// Before anything is known a hint is taken at its word, as if that had been seen twice.
constexpr double kWordWeight = 2;
// How far a hint may be off, as a share.
constexpr double kDoubtOfHint = 0.5;

}  // namespace

void HintTrust::learn(Bytes hint, Bytes peak) {
  PLIMSOLL_CHECK(hint.count > 0);
  if (shares_.size() == kSharesMax) shares_.pop_front();
  shares_.push_back(to_double(peak) / to_double(hint));
}

Belief HintTrust::expect(Bytes hint) const {
  std::vector<Weighted> values = {{1, kWordWeight}};
  for (const double share : shares_) values.push_back({share, 1});
  const Belief share = believe(values, kDoubtOfHint);
  return {share.mean * to_double(hint), share.spread * to_double(hint)};
}

}  // namespace plimsoll::policy
