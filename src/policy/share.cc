#include "policy/share.h"

#include <algorithm>

namespace plimsoll::policy {

Bytes share_of(Bytes line, const LineClaim& own, std::span<const LineClaim> others) {
  Bytes used, claimed;
  bool wanting = false;
  for (const LineClaim& other : others) {
    used += other.used;
    claimed += std::max(other.claimed, other.used);
    wanting = wanting || other.wanting;
  }
  const Bytes unused = line - used;
  const Bytes fair{line.count / (others.size() + 1)};
  Bytes share = std::max(line - claimed, std::min(fair, unused));
  if (wanting) share = std::min(share, std::max(fair, own.used));
  if (own.running == 1) share = std::max(share, unused);
  return std::max(share, Bytes{line.count / kShareMinDivisor});
}

}  // namespace plimsoll::policy
