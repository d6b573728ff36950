#include "policy/governor/running_set.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/check.h"
#include "policy/estimator/demand_forecast.h"
#include "policy/governor/writing.h"

namespace plimsoll::policy {
namespace {

constexpr double kNothing = 1e-6;  // seconds

using std::chrono::duration;

// Two looks closer together than this say nothing of how fast memory grows.
constexpr Duration kSlopeSpan = std::chrono::milliseconds(5);
// All members are looked at so often, one sooner, the other later.
constexpr Duration kSteadySpan = std::chrono::milliseconds(500);
// A job that was not frozen for so long is as if it never had been.
constexpr Duration kFreezesForgotten = std::chrono::seconds(60);

double square(double x) { return x * x; }

double needed_by(const Member& member) {
  return std::max(member.used(), member.estimate.peak.mean);
}

bool is_older(const Member* one, const Member* other) {
  return std::pair(one->started, one->ready.job) < std::pair(other->started, other->ready.job);
}

}  // namespace

double RecentUse::left(const Used& used, Instant now) {
  const Duration since = std::max<Duration>(Duration{}, now - used.at);
  return used.seconds * std::exp2(-to_seconds(since) / to_seconds(kForgotten));
}

void RecentUse::used(Tenant tenant, Duration cpu, Instant now) {
  if (cpu <= Duration{}) return;
  const auto [place, is_new] = used_.try_emplace(tenant);
  place->second = {.seconds = left(place->second, now) + to_seconds(cpu), .at = now};
  if (is_new)
    std::erase_if(used_, [&](const auto& one) { return left(one.second, now) < kNothing; });
}

// Who has used so many cores for ever has this many seconds left of them: their half-life by ln 2.
double RecentUse::cores(Tenant tenant, Instant now) const {
  const auto known = used_.find(tenant);
  if (known == used_.end()) return 0;
  return left(known->second, now) * std::numbers::ln2 / to_seconds(kForgotten);
}

void RunningSet::start(Ready& ready, const Estimate& estimate, Instant now) {
  PLIMSOLL_CHECK(ready.member == nullptr);
  ready.member =
      std::make_unique<Member>(Member{.ready = ready,
                                      .started = now,
                                      .since = now,
                                      .estimate = estimate,
                                      .estimated_at = now,
                                      .admitted_with = estimate.peak.mean + estimate.peak.spread,
                                      .expected_at_first = estimate.peak.mean,
                                      .writes_at_first = to_write(estimate).value_or(0),
                                      .was_known = is_known(estimate),
                                      .seen = now,
                                      .progressed = now});
  Member* member = ready.member.get();
  members_.insert(std::upper_bound(members_.begin(), members_.end(), member, is_older), member);
  count_cores(*member, 1);
  if (ready.is_command) ++commands_;
}

// Before and after whatever changes its state or its estimate.
void RunningSet::count_cores(const Member& member, double sign) {
  if (member.state == MemberState::running) cores_wanted_ += sign * member.estimate.cores.mean;
}

void RunningSet::set_rise(Member& member, Rise rise) {
  rise_ += rise.believed() - member.rise.believed();
  rise_variance_ += square(rise.doubt) - square(member.rise.doubt);
  member.rise = rise;
  if (members_.size() > 1) return;
  rise_ = rise.believed();  // sheds what rounding has left
  rise_variance_ = square(rise.doubt);
}

double RunningSet::rise() const { return whole_rise() - begun(); }

double RunningSet::whole_rise() const {
  return std::max(0.0, rise_) + std::sqrt(std::max(0.0, rise_variance_));
}

double RunningSet::begun() const {
  const double fresh = std::max(0.0, unaccounted() - std::min(steady_, steady_before_));
  return std::min(fresh, whole_rise());
}

void RunningSet::set_used(Member& member, Bytes used, double fresh) {
  const double change = to_double(used) - member.used();
  member.sample.used = used;
  changed_ += change * fresh;
  members_used_ += change;
  not_believed_ += change * (1 - member.word);
}

void RunningSet::believe(Member& member, double share) {
  not_believed_ += (member.word - share) * member.used();
  member.word = share;
  if (share == 0) set_rise(member, {});
}

void RunningSet::observe(Member& member, const JobSample& sample, Instant now) {
  const Duration span = sample.ran - member.sample.ran;
  if (sample.cpu > member.sample.cpu || sample.io > member.sample.io) {
    // As far as it was seen to.
    member.stood = std::max<Duration>(member.stood, member.seen - member.progressed);
    member.progressed = now;
  }
  if (span >= kSlopeSpan) {
    const double before = member.used();
    const double slope = std::max(0.0, (to_double(sample.used) - before) / to_seconds(span));
    // Rises at once, falls by half with each look: growth that pauses may go on. Of a known kind
    // it falls at once while the job runs, as what is expected of it tells how far it goes.
    const bool falls = is_known(member.estimate) && member.state == MemberState::running;
    member.slope = std::max(slope, falls ? slope : (slope + member.slope) / 2);
  }
  const double gap = to_seconds(now - member.seen);
  const double since = to_seconds(now - std::max(member.seen, looked_));
  if (!sample.claimed) believe(member, 1);
  set_used(member, sample.used, gap > 0 ? since / gap : 1);
  recent_use_.used(member.ready.tenant, sample.cpu - member.sample.cpu, now);
  claims_ += sample.claimed.has_value();
  claims_ -= member.sample.claimed.has_value();
  member.io.observe(member.sample, sample);
  member.wrote.observe(member.sample, sample);
  member.sample = sample;
  member.seen = now;
  if (span < kSlopeSpan || member.state != MemberState::running) return;
  if (member.word == 0) return;
  set_rise(member, member.rise_within(std::min(span, kSampleMax) + kFreezeDelay));
}

void RunningSet::expect(Member& member, const Estimate& estimate, Instant now) {
  count_cores(member, -1);
  member.estimate = estimate;
  member.estimated_at = now;
  count_cores(member, 1);
}

void RunningSet::observe(const MachineSample& sample, Instant now) {
  looked_ = now;
  pool_used_ = sample.pool_used ? static_cast<double>(sample.pool_used->count) : members_used_;
  changed_ = 0;
  freed_until_.reset();
  if (now - steady_since_ >= kSteadySpan) {
    steady_before_ = steady_;
    steady_ = unaccounted();
    steady_since_ = now;
  }
  steady_ = std::min(steady_, unaccounted());
}

void RunningSet::leave(Ready& ready, Instant now) {
  Member& member = *ready.member;
  set_rise(member, {});
  set_used(member, Bytes{}, 1);
  count_cores(member, -1);
  if (member.state == MemberState::frozen) --frozen_;
  if (member.state == MemberState::dying) {
    --dying_;
    freed_until_ = member.since + kDeathMax;
    // The first of several: who is killed one after the other holds up nothing for long.
    if (!look_awaited(now)) freed_at_ = now;
  }
  if (member.held) --held_;
  claims_ -= member.sample.claimed.has_value();
  if (ready.is_command) --commands_;
  members_.erase(std::lower_bound(members_.begin(), members_.end(), &member, is_older));
  ready.member.reset();
  if (members_.empty()) {
    rise_ = rise_variance_ = members_used_ = not_believed_ = cores_wanted_ = 0;
  }
}

void RunningSet::stop(Member& member, Instant now) {
  count_cores(member, -1);
  member.state = MemberState::frozen;
  member.since = now;
  member.reclaimed = {};
  set_rise(member, {});
  ++frozen_;
}

bool RunningSet::go_on(Member& member, Instant now) {
  if (member.state != MemberState::frozen || member.held || member.paused) return false;
  member.state = MemberState::running;
  count_cores(member, 1);
  // Its estimate has stood as still as it has.
  member.estimated_at += now - std::max(member.since, member.estimated_at);
  member.since = member.progressed = now;
  // What was pushed out comes back before the next look.
  set_rise(member, {.most = to_double(member.reclaimed), .doubt = 0});
  member.reclaimed = {};
  --frozen_;
  return true;
}

bool RunningSet::hold(Member& member, Instant now) {
  PLIMSOLL_CHECK(!member.held && member.state != MemberState::dying);
  if (now - member.since > kFreezesForgotten) member.freezes = 0;
  ++member.freezes;
  member.held = true;
  ++held_;
  if (member.state == MemberState::frozen) return false;
  stop(member, now);
  return true;
}

bool RunningSet::release(Member& member, Instant now) {
  if (!member.held) return false;
  member.held = member.gave_way = false;
  member.held_for = Shortage::memory;
  --held_;
  return go_on(member, now);
}

bool RunningSet::pause(Member& member, Instant now) {
  member.paused = true;
  if (member.state != MemberState::running) return false;
  stop(member, now);
  return true;
}

bool RunningSet::resume(Member& member, Instant now) {
  member.paused = false;
  return go_on(member, now);
}

void RunningSet::mark_dying(Member& member, Instant now) {
  if (member.state == MemberState::dying) return;
  count_cores(member, -1);
  if (member.state == MemberState::frozen) --frozen_;
  if (member.held) --held_;
  member.held = member.gave_way = false;
  member.held_for = Shortage::memory;
  member.state = MemberState::dying;
  member.since = now;
  set_rise(member, {});
  ++dying_;
}

bool RunningSet::is_small(const Member& member) const {
  return !member.is_unsettled() && needed_by(member) < small_;
}

std::size_t RunningSet::small() const {
  std::size_t count = 0;
  double together = 0;
  for (const Member* member : members_) {
    if (member->state == MemberState::dying || member->waits_for_commands) continue;
    if (!is_small(*member)) continue;
    ++count;
    together += needed_by(*member);
  }
  return together < small_ * kSmallTogether ? count : 0;
}

Member* RunningSet::keel() const {
  Member* oldest = nullptr;
  for (Member* member : members_) {
    if (member->state == MemberState::dying || member->paused) continue;
    if (!member->waits_for_commands && !member->gave_way) return member;
    if (oldest == nullptr) oldest = member;
  }
  return oldest;
}

const Member* RunningSet::oldest_sizeable() const {
  for (const Member* member : members_) {
    if (member->state == MemberState::dying || member->paused) continue;
    if (!is_small(*member)) return member;
  }
  return keel();
}

bool RunningSet::is_giving_back(Instant now) const {
  if (freed_until_ && now < *freed_until_) return true;
  if (dying_ == 0) return false;
  return std::any_of(members_.begin(), members_.end(),
                     [now](const Member* member) { return member->is_leaving(now); });
}

std::optional<Instant> RunningSet::look_awaited(Instant now) const {
  if (!freed_at_ || looked_ >= *freed_at_ + kFreedLag) return std::nullopt;
  const Instant until = *freed_at_ + kDeathMax;
  return now < until ? std::optional(until) : std::nullopt;
}

bool RunningSet::is_seen_since(Instant when) const {
  return std::all_of(members_.begin(), members_.end(), [when](const Member* member) {
    return member->state != MemberState::running || member->seen > when;
  });
}

double RunningSet::used() const { return std::max(0.0, pool_used_ + changed_ - not_believed_); }

double RunningSet::unaccounted() const {
  return std::max(0.0, used() + not_believed_ - members_used_);
}

}  // namespace plimsoll::policy
