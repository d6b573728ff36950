#include "policy/governor/crowding.h"

#include "policy/job/words.h"

namespace plimsoll::policy {
namespace {

bool may_be_frozen(const Member& member, const Member* keel, Instant now) {
  return &member != keel && member.may_be_paused(now) && member.estimate.cores.mean >= kComputes;
}

// Null if nobody may be frozen.
Member* choose(const RunningSet& running_set, const CoreClaims& claims, Instant now) {
  Member* chosen = nullptr;
  const auto& members = running_set.members();
  for (auto youngest = members.rbegin(); youngest != members.rend(); ++youngest) {
    Member& member = **youngest;
    if (!may_be_frozen(member, running_set.keel(), now)) continue;
    if (chosen == nullptr ||
        claims.wanted(member.ready.tenant) > claims.wanted(chosen->ready.tenant)) {
      chosen = &member;
    }
  }
  return chosen;
}

}  // namespace

CoreClaims::CoreClaims(const RunningSet& running_set, double cores) {
  for (const Member* member : running_set.members()) {
    if (member->state == MemberState::dying) continue;
    double& wanted = wanted_[member->ready.tenant];
    if (member->state == MemberState::running) wanted += member->estimate.cores.mean;
  }
  part_ = wanted_.empty() ? cores : cores / static_cast<double>(wanted_.size());
}

double CoreClaims::wanted(Tenant tenant) const {
  const auto found = wanted_.find(tenant);
  return found == wanted_.end() ? 0 : found->second;
}

bool CoreClaims::has_room(const Member& member) const {
  return wanted(member.ready.tenant) + member.estimate.cores.mean <= part_ * kRoomy;
}

void Crowding::relieve(RunningSet& running_set, double cores, Instant now,
                       std::vector<Decision>& rulings) {
  const double wanted = running_set.cores_wanted();
  if (wanted <= cores * kCrowded) return crowded_since_.reset();
  if (!crowded_since_) crowded_since_ = now;
  if (now < *crowded_since_ + kCrowdPersists || (last_ && now < *last_ + kCrowdGap)) return;
  const std::size_t going = running_set.size() - running_set.frozen() - running_set.dying();
  if (static_cast<double>(going) <= cores) return;
  const CoreClaims claims(running_set, cores);
  Member* member = choose(running_set, claims, now);
  if (member == nullptr) return;
  last_ = now;
  if (!running_set.hold(*member, now)) return;
  member->held_for = Shortage::cores;
  const double of_tenant = claims.wanted(member->ready.tenant);
  rulings.push_back(
      {.action = Freeze{member->ready.job},
       .reason = "the running jobs want " + words::decimal(wanted) + " cores, and there are " +
                 words::decimal(cores) + "; it started last" +
                 (of_tenant < wanted ? " of the jobs of the user who wants most" : ""),
       .numbers = {{"cores_wanted", wanted},
                   {"cores", cores},
                   {"crowded_for_s", to_seconds(now - *crowded_since_)},
                   {"cores_estimate", member->estimate.cores.mean},
                   {"running", static_cast<double>(going)}}});
}

}  // namespace plimsoll::policy
