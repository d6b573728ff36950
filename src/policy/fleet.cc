#include "policy/fleet.h"

#include <algorithm>

#include "base/check.h"
#include "policy/outlook.h"

namespace plimsoll::policy {
namespace {

using std::chrono::duration;

// Two looks closer together than this say nothing of how fast memory grows.
constexpr Duration kSlopeSpan = std::chrono::milliseconds(5);
// A job that was not frozen for so long is as if it never had been.
constexpr Duration kFreezesForgotten = std::chrono::seconds(60);

// What is believed with so many standard deviations bounds what a job grows by; a job that has got
// there has proved the belief wrong.
constexpr double kBoundDoubt = 2;

double rise_of(const Member& member, double used, Duration ahead) {
  const double rise = member.slope * to_seconds(ahead);
  const Belief& peak = member.estimate.peak;
  const double bound = peak.mean + kBoundDoubt * peak.spread - used;
  return is_known(member.estimate) && bound > 0 ? std::min(rise, bound) : rise;
}

}  // namespace

double Member::need() const { return std::max(0.0, estimate.peak.mean - used()); }

double Member::lost_work() const {
  // A job that waits for the network loses time, if no CPU; a tenth of a core stands for that.
  constexpr double kCoresOfWaiting = 0.1;
  constexpr double kLeast = 0.001;
  return std::max({to_seconds(sample.cpu), to_seconds(sample.ran) * kCoresOfWaiting, kLeast});
}

void Fleet::start(const Ready& ready, const Estimate& estimate, Instant now) {
  const auto [place, is_new] = members_.try_emplace(ready.job);
  PLIMSOLL_CHECK(is_new);
  Member& member = place->second;
  member.ready = ready;
  member.started = member.since = member.seen = member.progressed = now;
  member.estimate = estimate;
  member.estimated_at = now;
  member.was_known = is_known(estimate);
  member.promised = estimate.peak.mean + estimate.peak.spread;
  by_age_.emplace(now, ready.job);
}

void Fleet::set_rise(Member& member, double rise) {
  rise_ += rise - member.rise;
  member.rise = rise;
  if (members_.size() == 1) rise_ = rise;  // sheds what rounding has left
}

void Fleet::set_used(Member& member, Bytes used) {
  const double change = to_double(used) - member.used();
  member.sample.used = used;
  changed_ += change;
  members_used_ += change;
}

void Fleet::observe(Member& member, const JobSample& sample, Instant now) {
  const Duration span = sample.ran - member.sample.ran;
  if (sample.cpu > member.sample.cpu || sample.io > member.sample.io) member.progressed = now;
  if (span >= kSlopeSpan) {
    const double before = member.used();
    const double slope = std::max(0.0, (to_double(sample.used) - before) / to_seconds(span));
    // Rises at once, falls by half with each look: growth that pauses may go on.
    member.slope = std::max(slope, (slope + member.slope) / 2);
    const Duration ahead = std::min(span, kLookMax) + kFreezeDelay;
    if (member.state == MemberState::running) {
      set_rise(member, rise_of(member, to_double(sample.used), ahead));
    }
  }
  set_used(member, sample.used);
  member.sample = sample;
  member.seen = now;
}

void Fleet::expect(Member& member, const Estimate& estimate, Instant now) {
  member.estimate = estimate;
  member.estimated_at = now;
}

void Fleet::observe(const MachineSample& sample) {
  pool_used_ = sample.pool_used ? static_cast<double>(sample.pool_used->count) : members_used_;
  changed_ = 0;
  freed_until_.reset();
}

void Fleet::leave(JobId job) {
  Member& member = at(job);
  set_rise(member, 0);
  set_used(member, Bytes{});
  if (member.state == MemberState::frozen) --frozen_;
  if (member.state == MemberState::dying) {
    --dying_;
    freed_until_ = member.since + kDeathMax;
  }
  if (member.held) --held_;
  by_age_.erase({member.started, job});
  members_.erase(job);
  if (members_.empty()) rise_ = members_used_ = 0;
}

void Fleet::stop(Member& member, Instant now) {
  member.state = MemberState::frozen;
  member.since = now;
  member.reclaimed = {};
  set_rise(member, 0);
  ++frozen_;
}

bool Fleet::go_on(Member& member, Instant now) {
  if (member.state != MemberState::frozen || member.held || member.paused) return false;
  member.state = MemberState::running;
  // Its estimate has stood as still as it has.
  member.estimated_at += now - std::max(member.since, member.estimated_at);
  member.since = member.progressed = now;
  // What was pushed out comes back before the next look.
  set_rise(member, to_double(member.reclaimed));
  member.reclaimed = {};
  --frozen_;
  return true;
}

bool Fleet::hold(Member& member, Instant now) {
  PLIMSOLL_CHECK(!member.held && member.state != MemberState::dying);
  if (now - member.since > kFreezesForgotten) member.freezes = 0;
  ++member.freezes;
  member.held = true;
  ++held_;
  if (member.state == MemberState::frozen) return false;
  stop(member, now);
  return true;
}

bool Fleet::release(Member& member, Instant now) {
  if (!member.held) return false;
  member.held = member.for_cores = false;
  --held_;
  return go_on(member, now);
}

bool Fleet::pause(Member& member, Instant now) {
  member.paused = true;
  if (member.state != MemberState::running) return false;
  stop(member, now);
  return true;
}

bool Fleet::resume(Member& member, Instant now) {
  member.paused = false;
  return go_on(member, now);
}

void Fleet::condemn(Member& member, Instant now) {
  if (member.state == MemberState::dying) return;
  if (member.state == MemberState::frozen) --frozen_;
  if (member.held) --held_;
  member.held = member.for_cores = false;
  member.state = MemberState::dying;
  member.since = now;
  set_rise(member, 0);
  ++dying_;
}

Member* Fleet::find(JobId job) {
  const auto found = members_.find(job);
  return found == members_.end() ? nullptr : &found->second;
}

const Member* Fleet::find(JobId job) const {
  const auto found = members_.find(job);
  return found == members_.end() ? nullptr : &found->second;
}

Member& Fleet::at(JobId job) {
  Member* member = find(job);
  PLIMSOLL_CHECK(member != nullptr);
  return *member;
}

std::optional<JobId> Fleet::keel() const {
  for (const auto& [started, job] : by_age_) {
    const Member& member = *find(job);
    if (member.state != MemberState::dying && !member.paused) return job;
  }
  return std::nullopt;
}

bool Fleet::is_giving_back(Instant now) const {
  if (freed_until_ && now < *freed_until_) return true;
  if (dying_ == 0) return false;
  return std::any_of(members_.begin(), members_.end(),
                     [now](const auto& entry) { return entry.second.is_leaving(now); });
}

double Fleet::used() const { return std::max(0.0, pool_used_ + changed_); }

double Fleet::unaccounted() const { return std::max(0.0, used() - members_used_); }

}  // namespace plimsoll::policy
