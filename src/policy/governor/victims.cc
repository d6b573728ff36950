#include "policy/governor/victims.h"

#include <algorithm>
#include <deque>
#include <map>

#include "policy/estimator/demand_forecast.h"

namespace plimsoll::policy {
namespace {

struct Candidate {
  Member* member;
  bool is_keel = false;
  double astray = 0;  // bytes over its estimate, where these tell
  double yield = 0;   // bytes that are wanted, for a second of work lost
};

double over_estimate(const Member& member) {
  return std::max(0.0, member.used() - member.admitted_with);
}

// Its commands would go with it, so it is spared while what is short is theirs or others'. If it
// has taken as much beyond its estimate since it waits, it is as any that grows.
bool is_spared_for_commands(const Member& member, double shortage) {
  if (!member.waits_for_commands) return false;
  const double taken = member.used() - member.used_before_commands;
  return std::min(taken, over_estimate(member)) < shortage;
}

// Of a job whose kind is known a little more is what many take in their last moments, whose
// eviction loses all that they have done. Of others nothing tells that they stop growing.
double astray(const Member& member) {
  const bool is_as_known = is_known(member.estimate) &&
                           (!member.was_known || member.used() <= kAstray * member.admitted_with);
  return is_as_known ? 0 : over_estimate(member);
}

bool is_last_eviction(const Ready& ready) { return ready.lost + 1 >= kEvictionsMax; }

// Of one tenant.
bool goes_before(const Candidate& a, const Candidate& b) {
  const Ready& first = a.member->ready;
  const Ready& second = b.member->ready;
  if (a.is_keel != b.is_keel) return b.is_keel;
  if (first.restartable != second.restartable) return first.restartable;
  const bool first_last = is_last_eviction(first);
  const bool second_last = is_last_eviction(second);
  if (first_last != second_last) return second_last;
  if (a.astray != b.astray) return a.astray > b.astray;
  if (a.yield != b.yield) return a.yield > b.yield;
  return first.job > second.job;
}

// Always one of the tenant who is then furthest beyond his part, in his own order.
std::vector<Candidate> in_turn(const std::vector<Candidate>& sorted, TenantExcess excess) {
  std::map<Tenant, std::deque<Candidate>> queues;
  for (const Candidate& one : sorted) queues[one.member->ready.tenant].push_back(one);
  std::vector<Candidate> ordered;
  while (!queues.empty()) {
    const auto next =
        std::min_element(queues.begin(), queues.end(), [&excess](const auto& a, const auto& b) {
          const double first = excess.of(a.first), second = excess.of(b.first);
          return first != second ? first > second : goes_before(a.second.front(), b.second.front());
        });
    ordered.push_back(next->second.front());
    excess.take(*ordered.back().member);
    next->second.pop_front();
    if (next->second.empty()) queues.erase(next);
  }
  return ordered;
}

}  // namespace

Victims choose_victims(const RunningSet& running_set, const Member& keel,
                       const Shortfall& shortfall, Lose lose, Spare spare) {
  const double shortage = shortfall.shortage;
  const TenantExcess excess(running_set, shortfall.limit);
  std::vector<Candidate> candidates;
  for (Member* one : running_set.members()) {
    const Member& member = *one;
    const bool gives_way = excess.gives_way(member);
    if (member.state == MemberState::dying || member.counted() <= 0) continue;
    if (one == &keel && !gives_way) continue;
    if (is_spared_for_commands(member, shortage)) continue;
    if (lose == Lose::nobody && !member.ready.restartable) continue;
    if (spare != Spare::nobody && member.has_right_of_way() && !gives_way) continue;
    if (spare == Spare::twice_lost &&
        (is_last_eviction(member.ready) || !member.ready.restartable)) {
      continue;
    }
    candidates.push_back({.member = one,
                          .is_keel = one == &keel,
                          .astray = astray(member),
                          .yield = std::min(member.counted(), shortage) / member.lost_work()});
  }
  std::sort(candidates.begin(), candidates.end(), goes_before);
  if (excess.is_shared()) candidates = in_turn(candidates, excess);
  std::size_t taken = 0;
  double bytes = 0;
  while (taken < candidates.size() && bytes < shortage) {
    bytes += candidates[taken++].member->counted();
  }
  candidates.resize(taken);
  // Who came early and turns out not to be needed is let go, the least deserving victim first.
  for (std::size_t i = candidates.size(); i-- > 0;) {
    const double without = bytes - candidates[i].member->counted();
    if (without < shortage) continue;
    bytes = without;
    candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(i));
  }
  Victims victims{.members = {}, .bytes = bytes};
  for (const Candidate& candidate : candidates) victims.members.push_back(candidate.member);
  return victims;
}

Furthest furthest_over(const RunningSet& running_set, const Shortfall& shortfall, double least) {
  const double shortage = shortfall.shortage;
  const TenantExcess excess(running_set, shortfall.limit);
  const auto over = [](const Member& member) { return member.used() - member.admitted_with; };
  const auto goes_first = [&](const Member& a, const Member& b) {
    const double first = excess.of(a.ready.tenant), second = excess.of(b.ready.tenant);
    return first != second ? first > second : over(a) > over(b);
  };
  const auto find = [&](auto is_meant) {
    Member* furthest = nullptr;
    for (Member* member : running_set.members()) {
      if (member->state == MemberState::dying || !is_meant(*member)) continue;
      if (furthest == nullptr || goes_first(*member, *furthest)) furthest = member;
    }
    return furthest;
  };
  Member* furthest = find([&](const Member& member) { return member.used() >= least; });
  if (furthest == nullptr) return {find([](const Member&) { return true; })};
  if (!is_spared_for_commands(*furthest, shortage)) return {furthest};
  Member* other = find([&](const Member& member) {
    return !is_spared_for_commands(member, shortage) && member.used() >= least &&
           (over(member) >= least || member.used() >= shortage);
  });
  return other != nullptr ? Furthest{other, furthest} : Furthest{furthest};
}

}  // namespace plimsoll::policy
