#include "policy/governor/disk_tenancy.h"
#include "policy/governor/round.h"

// How tenants wait for space of file systems beside each other.
namespace plimsoll::policy {

// Who has less of the machine than he is before him in every round and would never hear of him.
void Round::hear_who_waits_for_space() {
  std::vector<DiskTenancy>& disks = ground_.seen.disk_tenancies;
  if (disks.empty()) return;
  for (const auto& [tenant, order] : ground_.waiting.orders()) {
    const Waiting::Rank& first = *order.begin();
    const Estimate estimate = ground_.waiting.expected(first.kind);
    const auto room = refuse_for_space(around_of(tenant, first).disks, estimate);
    if (room) disks[*room].wait_for_others(tenant, estimate);
  }
}

// Whoever would write there waits behind it; of other tenants, only who has more than his part.
void Round::refused_for_space(Tenant tenant, std::size_t disk, const Estimate& estimate) {
  AdmissionContext& seen = ground_.seen;
  if (seen.disk_tenancies.empty()) {
    seen.around.disks[disk].is_awaited = true;
  } else {
    seen.disk_tenancies[disk].wait_for(tenant, estimate);
  }
}

// The rooms as a tenant has them; `around` has them as they are.
void Round::share_space(Surroundings& around, Tenant tenant) const {
  const std::vector<DiskTenancy>& disks = ground_.seen.disk_tenancies;
  for (std::size_t i = 0; i < disks.size(); ++i) disks[i].show(around.disks[i], tenant);
}

void Round::share_space(Surroundings& around, Tenant tenant, const Waiting::Rank& rank) const {
  const std::vector<DiskTenancy>& disks = ground_.seen.disk_tenancies;
  const Duration waited = now_ - *ground_.waiting.first(rank.kind).waits_since;
  if (disks.empty() || waited < kSpaceKept) return;
  const Estimate estimate = ground_.waiting.expected(rank.kind);
  for (std::size_t i = 0; i < disks.size(); ++i) {
    disks[i].show_patient(around.disks[i], tenant, estimate, waited);
  }
}

void Round::count_in_space(Tenant tenant, const Estimate& admitted) {
  AdmissionContext& seen = ground_.seen;
  for (std::size_t i = 0; i < seen.disk_tenancies.size(); ++i) {
    seen.disk_tenancies[i].count_in(tenant, admitted, seen.around.disks[i]);
  }
}

}  // namespace plimsoll::policy
