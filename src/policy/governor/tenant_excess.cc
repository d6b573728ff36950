#include "policy/governor/tenant_excess.h"

#include <algorithm>

namespace plimsoll::policy {

TenantExcess::TenantExcess(const RunningSet& running_set, double limit) {
  for (const Member* member : running_set.members()) {
    used_[member->ready.tenant] += member->counted() + member->rise.most;
  }
  part_ = limit / static_cast<double>(std::max<std::size_t>(used_.size(), 1));
}

double TenantExcess::of(Tenant tenant) const {
  const auto used = used_.find(tenant);
  if (!is_shared() || used == used_.end()) return 0;
  return std::max(0.0, used->second - part_);
}

}  // namespace plimsoll::policy
