#include "policy/governor/resume_policy.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "policy/governor/crowding.h"
#include "policy/governor/victims.h"
#include "policy/job/words.h"

namespace plimsoll::policy {
namespace {

using Seconds = std::chrono::duration<double>;

Decision eviction(RunningSet& running_set, Member& member, std::string reason, Numbers numbers,
                  Instant now) {
  numbers.emplace_back("job_used_bytes", member.used());
  numbers.emplace_back("lost_cpu_s", to_seconds(member.sample.cpu));
  running_set.mark_dying(member, now);
  return {.action = Evict{member.ready.job},
          .reason = std::move(reason),
          .numbers = std::move(numbers)};
}

// What is still to come of one below what its kind takes, if the kind is an even one. What it has
// shown says less of that: while it waited for cores it was slow, so that it seems to be elsewhere
// on its course; and by the growth with which it was paused it would grow on.
double need_to_end(const Member& member) {
  const double spread = member.admitted_with - member.expected_at_first;
  const bool is_even = member.was_known && spread <= kEvenKind * member.expected_at_first;
  if (!is_even || member.used() > member.admitted_with) return member.need();
  return std::max(0.0, member.expected_at_first - member.used());
}

}  // namespace

Duration dwell_of(const Member& member) {
  Duration dwell = kDwell;
  if (is_known(member.estimate)) {
    const Seconds whole(to_seconds(member.sample.ran) + member.estimate.remaining.mean);
    const auto part = std::chrono::duration_cast<Duration>(whole * kDwellPart);
    dwell = std::clamp(part, kDwellLeast, kDwell);
  }
  for (unsigned i = 1; i < member.freezes && dwell < kDwellMax; ++i) dwell *= 2;
  return std::min(dwell, kDwellMax);
}

struct ResumePolicy::Turn {
  RunningSet& running_set;
  const GovernorConfig& config;
  MemoryResponse::Limits limits;
  const AdmissionContext& admission_context;
  const DiskSpace& disks;
  Instant now;
  std::vector<Decision>& rulings;
  std::vector<Member*> held;  // oldest first
  double thawed = 0;          // bytes that those let go in this turn may take
};

void ResumePolicy::free_keel(RunningSet& running_set, Instant now, std::vector<Decision>& rulings) {
  Member* keel = running_set.keel();
  if (keel == nullptr || !keel->held) return;
  const double frozen = to_seconds(now - keel->since);
  if (!running_set.release(*keel, now)) return;
  rulings.push_back({.action = Thaw{keel->ready.job},
                     .reason = "it is now the oldest job, which always runs",
                     .numbers = {{"used_bytes", running_set.used()}, {"frozen_s", frozen}}});
}

void ResumePolicy::descend(RunningSet& running_set, const GovernorConfig& config,
                           const MemoryResponse::Limits& limits,
                           const AdmissionContext& admission_context, const DiskSpace& disks,
                           Instant now, std::vector<Decision>& rulings) {
  if (running_set.held() == 0) return;
  Turn turn{running_set, config, limits, admission_context, disks, now, rulings, {}};
  for (Member* member : running_set.members()) {
    if (member->held) turn.held.push_back(member);
  }
  thaw_what_fits(turn);
  thaw_overdue(turn);
  unlock_keel(turn);
  end_waste(turn);
  give_back(turn);
}

void ResumePolicy::thaw(Turn& turn, Member& member, std::string reason, Numbers numbers) {
  numbers.emplace_back("frozen_s", to_seconds(turn.now - member.since));
  if (!turn.running_set.release(member, turn.now)) return;  // the user still holds it
  turn.rulings.push_back({.action = Thaw{member.ready.job},
                          .reason = std::move(reason),
                          .numbers = std::move(numbers)});
}

bool ResumePolicy::fits(const Turn& turn, const Member& member, Numbers& numbers) const {
  const Demand demand = demand_of(member.estimate);
  const double cushion = turn.limits.line * kThawCushion;
  // What was pushed out comes back before it does anything.
  const double back = turn.thawed + to_double(member.reclaimed);
  const double extra = back - member.used();
  double most = turn.running_set.used() + turn.thawed;
  double expected = most;  // without doubt
  const bool known = is_known(member.estimate);
  for (std::size_t i = 0; i < kHorizonCount && kHorizons[i] <= kThawSample; ++i) {
    const DemandForecast& others = turn.admission_context.moving;
    most = std::max(most,
                    extra + others.level_with(i, turn.admission_context.around.z, demand, known));
    expected = std::max(expected, extra + others.level_with(i, 0, demand, known));
  }
  // It may go on as it was, until it is frozen again.
  const double growth = member.rise_within(kSampleMax + kFreezeDelay).most;
  expected = std::max(expected, turn.running_set.used() + back + growth);
  const bool is_doubt_short = most > expected + cushion;
  const double with_it = is_doubt_short ? most : expected;
  const double allowed = turn.limits.limit - (is_doubt_short ? 0 : cushion);
  numbers = {{"line_bytes", turn.limits.line},
             {"used_bytes", turn.running_set.used()},
             {"with_it_bytes", with_it},
             {"allowed_bytes", allowed}};
  return with_it <= allowed;
}

bool ResumePolicy::may_be_tried(const Turn& turn, const Member& member) {
  if (member.held_for != Shortage::memory || is_known(member.estimate)) return false;
  const double patience = to_seconds(kTryAfterDwells * dwell_of(member));
  const double frozen = to_seconds(turn.now - member.since);
  if (frozen < patience) return false;
  // What was pushed out comes back, whether or not it grows.
  const double growth = to_double(member.reclaimed) + member.used() * patience / frozen;
  const double allowed = turn.limits.limit - turn.limits.line * kThawCushion;
  return turn.running_set.used() + turn.thawed + growth <= allowed;
}

// Those that have been paused for long enough, oldest first, but behind all others who has more of
// the space of a file system than others leave him.
std::vector<Member*> ResumePolicy::in_turn(const Turn& turn) {
  std::vector<Member*> members;
  bool is_for_space = false;
  for (Member* member : turn.held) {
    if (turn.now - member->since < dwell_of(*member)) continue;
    members.push_back(member);
    is_for_space = is_for_space || member->held_for == Shortage::space;
  }
  if (!is_for_space) return members;
  std::vector<std::tuple<double, std::size_t, Member*>> order;
  const std::vector<SpaceClaims> space = turn.disks.claims(turn.running_set);
  for (Member* member : members) {
    double excess = 0;
    if (member->held_for == Shortage::space) {
      for (const SpaceClaims& disk : space) excess = std::max(excess, disk.excess_of(*member));
    }
    order.emplace_back(excess, order.size(), member);
  }
  std::sort(order.begin(), order.end());
  std::transform(order.begin(), order.end(), members.begin(),
                 [](const auto& one) { return std::get<Member*>(one); });
  return members;
}

void ResumePolicy::thaw_what_fits(Turn& turn) {
  std::optional<CoreClaims> claims;
  std::optional<std::vector<SpaceClaims>> space;
  for (Member* member : in_turn(turn)) {
    if (member->held_for == Shortage::cores) {
      if (!claims) claims.emplace(turn.running_set, turn.config.cores);
      if (!claims->has_room(*member)) continue;
    }
    if (member->held_for == Shortage::space) {
      if (!space) space = turn.disks.claims(turn.running_set);
      const auto has_room = [member](const SpaceClaims& disk) { return disk.has_room(*member); };
      if (!std::all_of(space->begin(), space->end(), has_room)) continue;
    }
    Numbers numbers;
    if (!fits(turn, *member, numbers)) {
      if (!may_be_tried(turn, *member)) continue;
      member->slope = 0;  // it is looked at anew
      std::string reason =
          "it may have stopped growing: only " + words::bytes(numbers[1].second) + " are in use";
      thaw(turn, *member, std::move(reason), std::move(numbers));
      return;  // one at a time
    }
    claims.reset();
    space.reset();
    turn.thawed += std::max(0.0, numbers[2].second - turn.running_set.used() - turn.thawed);
    std::string reason = "there is room again: " + words::bytes(numbers[2].second) +
                         " are expected to be in use with it";
    if (member->held_for == Shortage::space) reason = "there is disk space for it again";
    thaw(turn, *member, std::move(reason), std::move(numbers));
  }
}

void ResumePolicy::thaw_overdue(Turn& turn) {
  for (Member* member : turn.held) {
    if (!member->held || turn.now - member->since < kFrozenMax) continue;
    member->calm_from = turn.now + kRightOfWay;
    thaw(turn, *member, "it has been paused for too long; other jobs must give way",
         {{"used_bytes", turn.running_set.used()}});
    return;  // one at a time
  }
}

// Which paused job goes on where the keel stands still; null if none. What was paused a moment ago
// is not what the keel has waited for all the while, so one must have been paused for kStandStill.
// Then all compete, least first: who was let go without room already comes last; who can be run
// again, or needs no more than is free, goes before who needs more beyond that. Even if the keel
// waits for another, one that needs little may end, and give its memory to that one. Jobs of
// several tenants wait for each other's memory alone (give_back()).
Member* ResumePolicy::holder_of_lock(const Turn& turn, Tenant tenant) {
  const double free = turn.limits.limit - turn.running_set.used() - turn.thawed;
  const auto excess = [free](const Member& member) {
    return member.ready.restartable ? 0 : std::max(0.0, need_to_end(member) - std::max(0.0, free));
  };
  const auto rank = [&](const Member& member) {
    return std::tuple(member.calm_from, excess(member), member.since);
  };
  Member* chosen = nullptr;
  bool may_hold_lock = false;
  for (Member* held : turn.held) {
    if (!held->held || held->paused || held->ready.tenant != tenant) continue;
    const Duration frozen = turn.now - held->since;
    may_hold_lock = may_hold_lock || frozen >= kStandStill;
    const bool gives_memory = held->held_for == Shortage::memory;
    if (frozen < (gives_memory ? dwell_of(*held) : kStandStill)) continue;
    if (chosen == nullptr || rank(*held) < rank(*chosen)) chosen = held;
  }
  return may_hold_lock ? chosen : nullptr;
}

void ResumePolicy::unlock_keel(Turn& turn) {
  if (turn.running_set.keel() == nullptr) return;
  Member& member = *turn.running_set.keel();
  const Duration patience = std::clamp(member.stood * 3 / 2, kStandStill, kStandStillMost);
  if (member.state != MemberState::running || turn.now - member.progressed < patience) return;
  const double stood = to_seconds(turn.now - member.progressed);
  const Numbers numbers{{"stood_still_s", stood}, {"used_bytes", turn.running_set.used()}};
  Member* held = holder_of_lock(turn, member.ready.tenant);
  if (held == nullptr) return;
  member.progressed = turn.now;  // the next one after as long again
  const bool may_evict = turn.config.may_evict && (turn.config.may_lose || held->ready.restartable);
  if (may_evict && turn.running_set.used() > turn.limits.limit) {
    turn.rulings.push_back(eviction(turn.running_set, *held,
                                    "the oldest job makes no progress, and the line is reached",
                                    numbers, turn.now));
    return;
  }
  held->calm_from = turn.now + kRightOfWay;
  thaw(turn, *held, "the oldest job makes no progress and may be waiting for this one", numbers);
}

void ResumePolicy::end_waste(Turn& turn) {
  if (!turn.config.may_evict || turn.running_set.is_giving_back(turn.now)) return;
  double waste = 0;
  const Member* first = nullptr;
  Duration longest{};
  for (const Member* member : turn.held) {
    if (!member->held || member->held_for != Shortage::memory) continue;
    if (first == nullptr) first = member;
    longest = std::max<Duration>(longest, turn.now - member->since);
    waste += member->used() * to_seconds(turn.now - member->since);
  }
  const Member* keel = turn.running_set.keel();
  if (first == nullptr || keel == nullptr || longest < kWasteFrom) return;
  Numbers numbers;
  if (fits(turn, *first, numbers)) return;
  const double shortage = numbers[2].second - numbers[3].second;
  const Victims victims = choose_victims(turn.running_set, *keel, {shortage, turn.limits.limit},
                                         may_lose(turn.config), Spare::twice_lost);
  if (victims.members.empty() || victims.bytes < shortage) return;
  const TenantExcess excess(turn.running_set, turn.limits.limit);
  const bool is_fair =
      !excess.is_shared() || excess.may_go_for(first->ready.tenant, victims.members);
  if (!is_fair) return;
  double redo = 0;
  for (const Member* victim : victims.members) {
    redo += victim->used() * to_seconds(victim->sample.ran);
  }
  if (waste < kWasteFactor * redo) return;
  for (Member* victim : victims.members) {
    turn.rulings.push_back(
        eviction(turn.running_set, *victim,
                 "running it again costs less than keeping other jobs paused for its memory",
                 {{"shortage_bytes", shortage}, {"paused_byte_s", waste}, {"again_byte_s", redo}},
                 turn.now));
  }
}

// What the held job lacks of what its tenant may claim; nothing if others don't owe it to him, or
// if that does not help it. What an unknown job would take is a guess: with some room it is tried.
std::optional<double> ResumePolicy::claim_of(const Turn& turn, const TenantExcess& excess,
                                             const Member& held) const {
  if (!held.held || held.paused || held.held_for != Shortage::memory) return std::nullopt;
  if (turn.now - held.since < kWasteFrom) return std::nullopt;
  const double owed = excess.owed_to(held.ready.tenant);
  Numbers numbers;
  if (owed <= 0 || fits(turn, held, numbers)) return std::nullopt;
  const double shortage = numbers[2].second - numbers[3].second;
  if (shortage > owed && is_known(held.estimate)) return std::nullopt;
  return std::min(shortage, owed);
}

// Of several tenants, who is within his part is not kept paused for long by who is beyond. For one
// job at a time.
void ResumePolicy::give_back(Turn& turn) {
  if (!turn.config.may_evict || turn.running_set.is_giving_back(turn.now)) return;
  const TenantExcess excess(turn.running_set, turn.limits.limit);
  const Member* keel = turn.running_set.keel();
  if (!excess.is_shared() || keel == nullptr) return;
  for (const Member* held : turn.held) {
    const auto shortage = claim_of(turn, excess, *held);
    if (!shortage) continue;
    const Victims victims = choose_victims(turn.running_set, *keel, {*shortage, turn.limits.limit},
                                           may_lose(turn.config));
    if (victims.bytes < *shortage) return;
    if (!excess.may_go_for(held->ready.tenant, victims.members)) return;
    for (Member* victim : victims.members) {
      turn.rulings.push_back(eviction(
          turn.running_set, *victim,
          "for its memory a job of another user, who has no more than an equal part, is paused",
          {{"shortage_bytes", *shortage}}, turn.now));
    }
    return;
  }
}

}  // namespace plimsoll::policy
