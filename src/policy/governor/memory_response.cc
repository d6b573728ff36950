#include "policy/governor/memory_response.h"

#include <algorithm>

#include "policy/estimator/demand_forecast.h"
#include "policy/governor/victims.h"
#include "policy/job/words.h"

namespace plimsoll::policy {

namespace {

// Who can be run again is evicted where it comes to that; whose end an eviction would be stops in
// time.
double growth_within(const Member& member, Duration ahead) {
  if (member.ready.restartable) return 0;
  const double most = member.slope * to_seconds(ahead);
  return std::min(most, is_known(member.estimate) ? member.need() : member.left_of_told());
}

double needed_to_end(const Member& member) {
  return is_known(member.estimate) ? member.need() : growth_within(member, kUnknownGrowth);
}

// Until the way out is looked for again.
double rise_meanwhile(const Member& member) {
  if (member.state != MemberState::running) return 0;
  return member.rise.believed() + growth_within(member, kWayOutGap);
}

// Paused for memory, not only just, and believed to have little time before it.
bool is_near_end(const Member& member, Instant now) {
  if (!member.held || member.paused || member.held_for != Shortage::memory) return false;
  if (member.since == now || !is_known(member.estimate)) return false;
  if (member.let_end && now < *member.let_end + kLetEndAgain) return false;
  return member.estimate.remaining.mean <= to_seconds(kNearEnd);
}

// `excess`: of its tenant, in bytes.
std::string why_it_goes(const Member& member, double excess) {
  const double over = member.used() - member.admitted_with;
  std::string text = "it uses " + words::bytes(member.used());
  if (over > 0) {
    text += ", " + words::bytes(over) + " more than estimated";
  } else {
    text += ", and " + words::decimal(member.lost_work()) + " s of CPU time are lost with it";
  }
  if (excess <= 0) return text;
  return text + "; the jobs of its user take " + words::bytes(excess) +
         " more than an equal part of the line";
}

}  // namespace

bool is_safe_state(std::vector<Claim> claims, double free) {
  std::sort(claims.begin(), claims.end(),
            [](const Claim& a, const Claim& b) { return a.need < b.need; });
  for (const Claim& claim : claims) {
    if (claim.need > free) return false;
    free += claim.used;
  }
  return true;
}

// What one climb works on.
struct MemoryResponse::Turn {
  RunningSet& running_set;
  const GovernorConfig& config;
  Limits limits;
  Instant now;
  std::vector<Decision>& rulings;
  const Member* keel = nullptr;
  double dying = 0;  // bytes that come back by themselves

  [[nodiscard]] double expected() const { return running_set.used() - dying + running_set.rise(); }
  [[nodiscard]] double soft() const { return limits.limit - limits.line * kCushion; }
  [[nodiscard]] Numbers numbers() const {
    return {{"line_bytes", limits.line},
            {"limit_bytes", limits.limit},
            {"used_bytes", running_set.used()},
            {"rise_bytes", running_set.rise()},
            {"coming_back_bytes", dying}};
  }
  // Running members that grow and may be frozen, the fastest first.
  [[nodiscard]] std::vector<Member*> growers() const {
    std::vector<Member*> growers;
    for (Member* member : running_set.members()) {
      if (!member->may_be_paused(now)) continue;
      if (member == keel && !limits.may_pause_keel) continue;
      if (member->rise.most < limits.line * kGrowthLeast) continue;
      growers.push_back(member);
    }
    std::sort(growers.begin(), growers.end(), [](const Member* a, const Member* b) {
      return a->rise.most != b->rise.most ? a->rise.most > b->rise.most
                                          : a->ready.job > b->ready.job;
    });
    return growers;
  }
};

void MemoryResponse::respond(RunningSet& running_set, const GovernorConfig& config,
                             const Limits& limits, Instant now, std::vector<Decision>& rulings) {
  next_sample_.reset();
  Turn turn{running_set, config, limits, now, rulings, running_set.keel()};
  const double used = running_set.used();
  const double tolerance = limits.line * kTolerance;
  if (used <= limits.limit + tolerance) over_since_.reset();
  if (turn.keel == nullptr) return;
  if (used + running_set.rise() <= turn.soft()) {
    swapping_since_.reset();
    if (config.may_pause) keep_safe_state(turn);
    return;
  }
  for (const Member* member : running_set.members()) {
    if (member->is_leaving(now)) turn.dying += member->used();
  }
  if (used > limits.limit + tolerance && !over_since_) over_since_ = now;
  if (config.may_pause) freeze_growers(turn);
  const double shortage = turn.expected() - limits.limit;
  if (shortage <= tolerance) return;
  if (reclaim(turn, shortage)) return;
  evict(turn, shortage);
}

void MemoryResponse::freeze(Turn& turn, Member& member, const char* why) {
  Numbers numbers = turn.numbers();
  numbers.emplace_back("job_used_bytes", member.used());
  numbers.emplace_back("growth_bytes_per_s", member.slope);
  numbers.emplace_back("estimate_bytes", member.estimate.peak.mean);
  const double slope = member.slope;
  if (turn.running_set.hold(member, turn.now)) {
    turn.rulings.push_back(
        {.action = Freeze{member.ready.job},
         .reason = "it grows by " + words::bytes(slope) + " a second, and " + why,
         .numbers = std::move(numbers)});
  }
  last_trouble_ = turn.now;
}

// Who was let go as it needed no more, and takes more all the same, was not about to end.
void MemoryResponse::end_right_of_way(const Turn& turn) {
  for (Member* member : turn.running_set.members()) {
    const bool is_let = member->let_end && turn.now < *member->let_end + kLetEnd;
    const double most = member->let_end_with + turn.limits.line * kTolerance;
    if (is_let && member->used() > most) member->calm_from = turn.now;
  }
}

void MemoryResponse::freeze_growers(Turn& turn) {
  if (turn.expected() <= turn.soft()) return;
  end_right_of_way(turn);
  for (Member* member : turn.growers()) {
    freeze(turn, *member, "the line is near");
    if (turn.expected() <= turn.soft()) return;
  }
}

void MemoryResponse::keep_safe_state(Turn& turn) {
  if (turn.running_set.size() < 2 || turn.running_set.rise() < turn.limits.line * kGrowthLeast)
    return;
  if (last_safe_state_ && turn.now < *last_safe_state_ + kWayOutGap) return;
  last_safe_state_ = turn.now;
  // Most of the time there is room for everybody.
  double needs = 0;
  for (const Member* member : turn.running_set.members()) {
    needs += needed_to_end(*member);
  }
  const double free_now = turn.limits.limit - (turn.running_set.used() - turn.running_set.begun());
  if (needs <= free_now) return;
  const auto safe = [&](bool growth) {
    std::vector<Claim> claims;
    double free = free_now;
    for (const Member* one : turn.running_set.members()) {
      const Member& member = *one;
      if (member.state == MemberState::dying) {
        if (member.is_leaving(turn.now)) free += member.used();
        continue;
      }
      const double rise = growth || one == turn.keel ? rise_meanwhile(member) : 0;
      free -= rise;
      claims.push_back(
          {.used = member.used() + rise, .need = std::max(0.0, needed_to_end(member) - rise)});
    }
    return is_safe_state(std::move(claims), free);
  };
  if (safe(true)) return;
  const bool is_late = !safe(false);  // so that somebody is evicted, or fails
  for (Member* member : turn.growers()) {
    if (is_late && member->ready.restartable) continue;
    freeze(turn, *member, "another job needs the memory to finish");
    if (safe(true)) return;
  }
}

double MemoryResponse::wanted_for(const Turn& turn, double shortage) {
  return shortage * (1 + kEvictionBuffer) + turn.limits.line * kCushion;
}

// Whether it is worth waiting for what was asked for.
bool MemoryResponse::reclaim(Turn& turn, double shortage) {
  if (!last_reclaim_ || turn.now >= *last_reclaim_ + kReclaimGap) {
    last_reclaim_ = turn.now;
    turn.rulings.push_back({.action = Reclaim{.job = {}, .amount = to_bytes(shortage)},
                            .reason = "memory is short, and clean page cache can be read again",
                            .numbers = turn.numbers()});
  }
  if (!turn.config.has_swap) return false;
  double wanted = wanted_for(turn, shortage);
  bool asked = false;
  for (Member* one : turn.running_set.members()) {
    Member& member = *one;
    if (member.state != MemberState::frozen || wanted <= 0) continue;
    const double amount = std::min(wanted, member.used() - to_double(member.reclaimed));
    if (amount <= 0) continue;
    member.reclaimed += to_bytes(amount);
    wanted -= amount;
    asked = true;
    turn.rulings.push_back(
        {.action = Reclaim{.job = member.ready.job, .amount = to_bytes(amount)},
         .reason = "it is paused, and other jobs are short of " + words::bytes(shortage),
         .numbers = turn.numbers()});
  }
  if (asked && !swapping_since_) swapping_since_ = turn.now;
  // At the wall there is no time: what sleeps there freezes late, and only what is frozen gives
  // back.
  if (over_since_ || !swapping_since_) return false;
  if (turn.now >= *swapping_since_ + kSwapPatience) return false;
  next_sample_ = *swapping_since_ + kSwapPatience;
  return true;
}

void MemoryResponse::evict(Turn& turn, double shortage) {
  if (turn.running_set.is_giving_back(turn.now) && round_ && turn.now < *round_ + kRoundDeadline) {
    next_sample_ = *round_ + kRoundDeadline;
    return;
  }
  if (const auto until = turn.running_set.look_awaited(turn.now)) {
    next_sample_ = *until;
    return;
  }
  Victims victims;
  const Lose lose = may_lose(turn.config);
  if (turn.config.may_evict) {
    const double wanted = shortage + turn.limits.line * kEvictionBuffer;
    victims = choose_victims(turn.running_set, *turn.keel, {wanted, turn.limits.limit}, lose);
  }
  if (victims.members.empty() && turn.config.may_evict) {
    victims = choose_victims(turn.running_set, *turn.keel, {shortage, turn.limits.limit}, lose,
                             Spare::nobody);
  }
  const TenantExcess excess(turn.running_set, turn.limits.limit);
  if (is_owed_by_dying(turn, victims, excess)) {
    next_sample_ = turn.now + kOverLineGrace;
    return;
  }
  const bool is_for_good =
      std::none_of(victims.members.begin(), victims.members.end(),
                   [](const Member* victim) { return victim->ready.restartable; });
  if (is_for_good && let_one_end(turn, shortage)) return;
  if (victims.members.empty()) return fail_one(turn);
  const Numbers numbers = turn.numbers();
  for (Member* victim : victims.members) {
    Member& member = *victim;
    Numbers own = numbers;
    own.emplace_back("shortage_bytes", shortage);
    own.emplace_back("job_used_bytes", member.used());
    own.emplace_back("admitted_with_bytes", member.admitted_with);
    own.emplace_back("lost_cpu_s", to_seconds(member.sample.cpu));
    turn.rulings.push_back({.action = Evict{member.ready.job},
                            .reason = words::bytes(shortage) + " too much is in use; " +
                                      why_it_goes(member, excess.of(member.ready.tenant)),
                            .numbers = std::move(own)});
    turn.running_set.mark_dying(member, turn.now);
  }
  round_ = last_trouble_ = turn.now;
  next_sample_ = turn.now + kRoundDeadline;
}

// Whether one who is killed already, of a tenant beyond his part, has the memory that is wanted of
// tenants who are not.
bool MemoryResponse::is_owed_by_dying(const Turn& turn, const Victims& victims,
                                      const TenantExcess& excess) {
  const auto has_more = [&excess](const Member* member) {
    return excess.of(member->ready.tenant) > 0;
  };
  if (std::any_of(victims.members.begin(), victims.members.end(), has_more)) return false;
  const auto& members = turn.running_set.members();
  return std::any_of(members.begin(), members.end(), [&](const Member* member) {
    return member->state == MemberState::dying && has_more(member) &&
           turn.now < member->since + kDeathAwaitedMost;
  });
}

// Whether one is on its way to its end.
bool MemoryResponse::let_one_end(Turn& turn, double shortage) {
  // Where the machine itself is short the line is not what counts.
  const double over = turn.running_set.used() - turn.limits.limit;
  const bool is_late =
      over > turn.limits.line * kLetEndOver || turn.limits.limit < turn.limits.line;
  if (!over_since_ || is_late || turn.now >= *over_since_ + kLetEndMost) return false;
  Member* chosen = nullptr;
  for (Member* one : turn.running_set.members()) {
    const Member& member = *one;
    const bool is_let = member.let_end && member.state == MemberState::running;
    if (is_let && turn.now < *member.let_end + kLetEnd) {
      next_sample_ = *member.let_end + kLetEnd;
      return true;
    }
    if (!is_near_end(member, turn.now) || member.used() < shortage) continue;
    if (member.need() > turn.limits.line * kTolerance) continue;
    if (chosen == nullptr || member.estimate.remaining.mean < chosen->estimate.remaining.mean) {
      chosen = one;
    }
  }
  if (chosen == nullptr) return false;
  Numbers numbers = turn.numbers();
  numbers.emplace_back("job_used_bytes", chosen->used());
  numbers.emplace_back("estimate_bytes", chosen->estimate.peak.mean);
  chosen->let_end = turn.now;
  chosen->let_end_with =
      std::max(chosen->used(), chosen->estimate.peak.mean) + to_double(chosen->reclaimed);
  chosen->calm_from = turn.now + kLetEnd;
  next_sample_ = chosen->calm_from;
  static_cast<void>(turn.running_set.release(*chosen, turn.now));
  turn.rulings.push_back(
      {.action = Thaw{chosen->ready.job},
       .reason = "its end is believed to be near, and gives back " + words::bytes(chosen->used()),
       .numbers = std::move(numbers)});
  return true;
}

// What does not fit only because other runs have a part of the line fits when they have ended.
bool MemoryResponse::waits_for_others(const Turn& turn, const Member& member) {
  return turn.limits.left_by_others && turn.config.may_evict && member.ready.restartable;
}

// Why this one fails, up to how far above the line use is. `alone`: nobody else runs.
std::string MemoryResponse::why_it_fails(const Turn& turn, const Member& member, bool alone) {
  if (!alone) return ", and no job may be paused or evicted: use is ";
  if (turn.running_set.size() == 1) return " and does not fit: use is ";
  const Member& keel = *turn.running_set.keel();
  const double more = member.used() - member.admitted_with;
  std::string text;
  if (&member != &keel) {
    text = " and cannot go on beside the oldest job, which uses " + words::bytes(keel.used());
  } else if (more > 0) {
    text = ", " + words::bytes(more) + " more than expected";
  }
  return text + ": with every other job paused, use is still ";
}

// Nobody is left whose eviction would help the rest.
void MemoryResponse::fail_one(Turn& turn) {
  if (!over_since_) return;
  const double over = turn.running_set.surely_used() - turn.limits.limit;
  const bool others_yield = turn.limits.left_by_others && !turn.limits.may_pause_keel;
  const Instant patient_until = *over_since_ + (others_yield ? kYieldGrace : kOverLineGrace);
  if (turn.now < patient_until && over <= turn.limits.line * kOverLineMost) {
    next_sample_ = patient_until;
    return;
  }
  // Only an older look at the pool says so; the next one will tell.
  if (over <= 0) {
    next_sample_ = turn.now + kOverLineGrace;
    return;
  }
  const double least = std::min(over * kGivenBackLeast, turn.limits.line * kTolerance);
  const Furthest furthest = furthest_over(turn.running_set, {over, turn.limits.limit}, least);
  Member& member = *furthest.member;
  const bool alone =
      turn.running_set.size() <= turn.running_set.frozen() + turn.running_set.dying() + 1;
  Numbers numbers = turn.numbers();
  numbers.emplace_back("job_used_bytes", member.used());
  numbers.emplace_back("over_bytes", over);
  const double left = turn.running_set.unaccounted();
  numbers.emplace_back("unaccounted_bytes", left);
  std::string reason =
      "it uses " + words::bytes(member.used()) + why_it_fails(turn, member, alone) +
      words::bytes(over) + " above the line of " + words::bytes(turn.limits.limit) +
      (left > turn.limits.line * kTolerance
           ? "; " + words::bytes(left) +
                 " of the memory in use belongs to no running job (files in a tmpfs, say)"
           : "");
  if (waits_for_others(turn, member)) {
    reason = "it uses " + words::bytes(member.used()) + ", and other runs leave only " +
             words::bytes(*turn.limits.left_by_others) + "; it starts again when they leave more";
    numbers.emplace_back("left_by_others_bytes", *turn.limits.left_by_others);
    turn.rulings.push_back({Evict{member.ready.job}, std::move(reason), std::move(numbers)});
  } else if ((member.waits_for_commands || furthest.spared != nullptr) && !alone &&
             turn.config.may_evict && member.ready.restartable) {  // somebody was only spared
    turn.rulings.push_back({Evict{member.ready.job}, std::move(reason), std::move(numbers)});
  } else {
    turn.rulings.push_back({Fail{member.ready.job}, std::move(reason), std::move(numbers)});
  }
  turn.running_set.mark_dying(member, turn.now);
  round_ = last_trouble_ = turn.now;
  next_sample_ = turn.now + kRoundDeadline;
}

}  // namespace plimsoll::policy
