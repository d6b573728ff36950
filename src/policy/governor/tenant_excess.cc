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

double TenantExcess::owed_to(Tenant tenant) const {
  const auto used = used_.find(tenant);
  if (!is_shared() || used == used_.end()) return 0;
  double too_much = 0;
  for (const auto& [other, bytes] : used_) {
    if (other != tenant) too_much += std::max(0.0, bytes - part_);
  }
  return std::min(too_much, std::max(0.0, part_ - used->second));
}

bool TenantExcess::may_go_for(Tenant tenant, const std::vector<Member*>& members) const {
  TenantExcess left = *this;
  return std::all_of(members.begin(), members.end(), [&](const Member* member) {
    const Tenant whose = member->ready.tenant;
    const bool may = whose == tenant || left.of(whose) > 0;
    left.take(*member);
    return may;
  });
}

}  // namespace plimsoll::policy
