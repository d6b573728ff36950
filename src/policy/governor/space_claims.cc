#include "policy/governor/space_claims.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "policy/governor/disk_space.h"
#include "policy/governor/writing.h"

namespace plimsoll::policy {
namespace {

std::size_t tenants_of(const RunningSet& running_set) {
  std::set<Tenant> tenants;
  for (const Member* member : running_set.members()) tenants.insert(member->ready.tenant);
  return tenants.size();
}

bool goes_on_before(const SpaceClaims::Writer& a, const SpaceClaims::Writer& b) {
  if (a.excess != b.excess) return a.excess < b.excess;
  return std::pair(a.member->started, a.member->ready.job) <
         std::pair(b.member->started, b.member->ready.job);
}

}  // namespace

SpaceClaims::SpaceClaims(const RunningSet& running_set, const DiskFloor& disk, double free)
    : tenancy_(disk, free, tenants_of(running_set)),
      spare_(free - to_double(disk.floor) * (1 + kSpaceCushion)) {
  for (const Member* member : running_set.members()) {
    if (member->state == MemberState::dying) continue;
    const bool runs = member->state == MemberState::running;
    tenancy_.add(member->ready.tenant,
                 {.written = written(*member), .promised = runs ? left_to_write(*member) : 0});
  }
  std::map<Tenant, double> has;
  for (Member* member : running_set.members()) {
    if (member->state == MemberState::dying) continue;
    double& own = has[member->ready.tenant];
    own += written(*member) + left_to_write(*member);
    if (!is_writer(*member)) continue;
    const double excess = tenancy_.is_shared() ? std::max(0.0, own - tenancy_.part()) : 0;
    writers_.push_back({.member = member, .excess = excess});
  }
  std::sort(writers_.begin(), writers_.end(), goes_on_before);
}

double SpaceClaims::excess_of(const Member& member) const {
  const auto own = std::find_if(writers_.begin(), writers_.end(),
                                [&](const Writer& one) { return one.member == &member; });
  return own == writers_.end() ? 0 : own->excess;
}

bool SpaceClaims::has_room(const Member& member) const {
  const double excess = excess_of(member);
  const auto holds_it_up = [&](const Writer& one) {
    if (one.member->state != MemberState::running) return false;
    return one.member->ready.tenant == member.ready.tenant || one.excess <= excess;
  };
  if (std::none_of(writers_.begin(), writers_.end(), holds_it_up)) return true;
  return spare_ - tenancy_.promised_before(member.ready.tenant) >= left_to_write(member);
}

}  // namespace plimsoll::policy
