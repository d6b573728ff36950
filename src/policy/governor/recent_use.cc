#include "policy/governor/recent_use.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace plimsoll::policy {
namespace {

constexpr double kNothing = 1e-6;  // seconds

}  // namespace

double RecentUse::left(const Used& used, Instant now) {
  const Duration since = std::max<Duration>(Duration{}, now - used.at);
  return used.seconds * std::exp2(-to_seconds(since) / to_seconds(kForgotten));
}

void RecentUse::used(Tenant tenant, Duration cpu, Instant now) {
  if (cpu <= Duration{}) return;
  const auto [place, is_new] = used_.try_emplace(tenant);
  place->second = {.seconds = left(place->second, now) + to_seconds(cpu), .at = now};
  if (is_new)
    std::erase_if(used_, [&](const auto& one) { return left(one.second, now) < kNothing; });
}

// Who has used so many cores for ever has this many seconds left of them: their half-life by ln 2.
double RecentUse::cores(Tenant tenant, Instant now) const {
  const auto known = used_.find(tenant);
  if (known == used_.end()) return 0;
  return left(known->second, now) * std::numbers::ln2 / to_seconds(kForgotten);
}

}  // namespace plimsoll::policy
