#include "policy/governor/safe_state.h"

#include <algorithm>

namespace plimsoll::policy {

bool is_safe_state(std::vector<Claim> claims, double free) {
  std::sort(claims.begin(), claims.end(),
            [](const Claim& a, const Claim& b) { return a.need < b.need; });
  for (const Claim& claim : claims) {
    if (claim.need > free) return false;
    free += claim.used;
  }
  return true;
}

}  // namespace plimsoll::policy
