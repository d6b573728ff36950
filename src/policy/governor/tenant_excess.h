#pragma once

#include <map>
#include <vector>

#include "policy/governor/running_set.h"
#include "policy/job/tenant.h"

namespace plimsoll::policy {

// Of several tenants whose jobs run, who uses more than an equal part of the line: what is short is
// taken from him first, so that nobody who stays within his part loses a job to another's growth.
// With what each grows by until a pause would take hold; what is merely told does not count.
class TenantExcess {
 public:
  // `limit`: the line, or what the machine leaves of it; bytes. O(running).
  TenantExcess(const RunningSet& running_set, double limit);

  // Whether jobs of more than one tenant run: else nobody has to be fair.
  [[nodiscard]] bool is_shared() const { return used_.size() > 1; }
  // Bytes beyond his part; 0 for everybody where there is one tenant.
  [[nodiscard]] double of(Tenant tenant) const;
  // Bytes that a tenant may still claim of those who are beyond: no more than these have too much,
  // nor than he lacks to his part.
  [[nodiscard]] double owed_to(Tenant tenant) const;
  // Whether all of these may go for a job of the tenant, one after the other: each is his own, or
  // of one who is still beyond his part then.
  [[nodiscard]] bool may_go_for(Tenant tenant, const std::vector<Member*>& members) const;

  // Whether even the keel, or one with the right of way, gives way to jobs of others. One that was
  // lost so often that it had to start alone does not: it must come to an end.
  [[nodiscard]] bool gives_way(const Member& member) const {
    return of(member.ready.tenant) > 0 && member.ready.lost <= kEvictionsMax;
  }

  // This one is to go.
  void take(const Member& member) { used_[member.ready.tenant] -= member.counted(); }

 private:
  std::map<Tenant, double> used_;  // bytes
  double part_ = 0;
};

}  // namespace plimsoll::policy
