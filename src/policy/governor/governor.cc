#include "policy/governor/governor.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "policy/governor/admission.h"
#include "policy/governor/round.h"

namespace plimsoll::policy {
namespace {

// Time changes what is expected, if nothing else does: who waits is looked at again so often.
constexpr Duration kRoundGap = std::chrono::seconds(1);
// After an end what the others have is quite known when they were looked at, soon: then once more.
constexpr Duration kEndGap = kSampleMax;
// What needs less than this share of the line makes no room by its end.
constexpr double kSmall = 1.0 / 64;
// After a freeze or an eviction for memory nobody is admitted until all that run have been looked
// at anew, so that what went wrong is in what is believed of them; and no longer than this.
constexpr Duration kCalmMax = std::chrono::seconds(3);

}  // namespace

Governor::Governor(GovernorConfig config)
    : config_(std::move(config)),
      cores_(config_.cores),
      waiting_(config_.order),
      disk_space_(config_.disks) {
  PLIMSOLL_CHECK(config_.cores > 0 && config_.jobs_max >= 1);
  running_set_.set_small(to_double(config_.line) * kSmall);
  set_limits();
}

void Governor::set_limits() {
  limits_.line = limits_.limit = to_double(config_.line);
  limits_.left_by_others = left_by_others_;
  if (machine_limit_) limits_.limit = std::clamp(*machine_limit_, 0.0, limits_.line);
}

void Governor::tick(const MachineSample& sample, Instant now) {
  processors_.observe(sample, now);
  running_set_.observe(sample, now);
  if (io_crowding_.observe(sample, running_set_, now) == IoCrowding::Change::freed) changed_ = true;
  machine_limit_.reset();
  if (sample.available) {
    machine_limit_ = running_set_.used() + static_cast<double>(sample.available->count) -
                     to_double(config_.reserve);
  }
  set_limits();
}

std::vector<DiskNews> Governor::observe(const DiskSample& sample, Instant now) {
  const bool is_awaited = holding_ && holding_->cause == HoldCause::space;
  if (is_awaited || running_set_.held() > 0) changed_ = true;
  return disk_space_.observe(sample, running_set_, now);
}

// It has shown its needs.
void Governor::settle(Member& member) {
  member.settled = true;
  waiting_.settled(member.ready.kind);
  if (!member.was_known) slow_start_.settled();
}

bool Governor::is_calm(Instant now) const {
  if (running_set_.is_giving_back(now)) return false;
  const auto trouble = memory_response_.last_trouble();
  return !trouble || now >= *trouble + kCalmMax || running_set_.is_seen_since(*trouble);
}

bool Governor::take_wish_for_looks(Instant now) {
  const auto trouble = memory_response_.last_trouble();
  if (looks_wished_for_ == trouble || waiting_.size() == 0 || is_calm(now)) return false;
  if (running_set_.is_giving_back(now)) return false;
  looks_wished_for_ = trouble;
  const auto& members = running_set_.members();
  return std::all_of(members.begin(), members.end(), [](const Member* member) {
    return member->state != MemberState::frozen ||
           (member->ready.restartable && is_known(member->estimate));
  });
}

std::vector<Decision> Governor::rule(Instant now, unsigned starts_max) {
  std::vector<Decision> rulings = std::move(asked_for_);
  asked_for_.clear();
  believe_words();
  limits_.may_pause_keel = has_elder_ && running_set_.sizeable() <= 1;
  if (!limits_.may_pause_keel) ResumePolicy::free_keel(running_set_, now, rulings);
  const auto trouble = memory_response_.last_trouble();
  hindsight_.compare(running_set_, doubt_covered(config_), now);
  memory_response_.respond(running_set_, config_, limits_, now, rulings);
  if (memory_response_.last_trouble() != trouble) {
    hindsight_.cut_short(running_set_, doubt_covered(config_));
    if (running_set_.dying() > 0) slow_start_.trouble();
  }
  const bool was_held_for_calm = holding_ && holding_->cause == HoldCause::calm;
  const bool due = changed_ || !last_round_ || now >= *last_round_ + kRoundGap ||
                   (after_end_ && now >= *after_end_) || (was_held_for_calm && is_calm(now));
  if (due && (waiting_.size() > 0 || running_set_.held() > 0)) {
    last_round_ = now;
    changed_ = false;
    if (after_end_ && now >= *after_end_) after_end_.reset();
    AdmissionContext seen =
        admission_context(running_set_, config_, limits_, safety_margin_.margin(now), processors_,
                          hindsight_, now, tenants_.size(), waiting_);
    seen.around.cores = cores_;
    seen.around.taken = taken_;
    seen.around.left_by_others = left_by_others_;
    seen.around.unsettled_elsewhere = unsettled_elsewhere_;
    seen.around.demand_forecast.add_constant(taken_);
    seen.yielding.add_constant(taken_);
    hindsight_.forecast(running_set_, seen.going, limits_.line, now);
    resume_policy_.descend(running_set_, config_, limits_, seen, disk_space_, now, rulings);
    seen.around.disks = disk_space_.rooms(running_set_, now);
    if (seen.tenancy.is_shared()) {
      seen.disk_tenancies = disk_space_.tenancies(running_set_, tenants_.size(), now);
    }
    seen.around.io = io_crowding_.room(running_set_, now);
    // After what decides about those that run: only who has not begun waits for a claim.
    seen.around.told = told_;
    seen.around.demand_forecast.add_constant(seen.around.claimed + told_);
    seen.yielding.add_constant(told_);
    admit(now, starts_max, seen, rulings);
  }
  for (const Decision& decision : rulings) count_waste(decision, now);
  if (config_.may_pause) crowding_.relieve(running_set_, config_.cores, now, rulings);
  if (config_.may_pause) disk_space_.relieve(running_set_, now, rulings);
  if (waiting_.size() == 0) holding_.reset();
  set_wake(now);
  return rulings;
}

// A pause wastes what its job has, for as long as it lasts at least; an eviction what the job has
// been given. What the user has paused says nothing.
void Governor::count_waste(const Decision& decision, Instant now) {
  const auto* pause = std::get_if<Freeze>(&decision.action);
  const auto* eviction = std::get_if<Evict>(&decision.action);
  if (pause == nullptr && eviction == nullptr) return;
  const JobId job = pause != nullptr ? pause->job : eviction->job;
  const auto& members = running_set_.members();
  const auto found = std::ranges::find_if(
      members, [job](const Member* member) { return member->ready.job == job; });
  if (found == members.end()) return;
  const Member& member = **found;
  if (pause != nullptr && !member.held) return;
  const Duration time = pause != nullptr ? dwell_of(member) : member.sample.ran;
  safety_margin_.wasted(member.used() / limits_.line, time, now);
}

void Governor::set_wake(Instant now) {
  next_wake_ = memory_response_.next_sample();
  if (waiting_.size() == 0 && running_set_.held() == 0) return;
  Instant round = last_round_ ? *last_round_ + kRoundGap : now;
  if (after_end_) round = std::min(round, *after_end_);
  next_wake_ = next_wake_ ? std::min(*next_wake_, round) : round;
}

void Governor::admit(Instant now, unsigned starts_max, AdmissionContext& seen,
                     std::vector<Decision>& rulings) {
  holding_.reset();
  if (waiting_.size() == 0) return;
  const Waiting::Rank& front = waiting_.front();
  // Where all places are taken, one that is awaited may start all the same.
  const bool may_go_beyond =
      waiting_.first(front.kind).may_be_awaited && running_set_.jobs() >= config_.jobs_max;
  if (starts_max == 0 && !front.is_command && !may_go_beyond) return;
  if (!is_calm(now)) {
    holding_ =
        Holding{.job = waiting_.front().first,
                .cause = HoldCause::calm,
                .reason = running_set_.is_giving_back(now)
                              ? "waits until a killed job has given its memory back"
                              : "waits until memory use has settled after a shortage",
                .numbers = {{"used_bytes", running_set_.used()}, {"line_bytes", limits_.limit}}};
    return;
  }
  seen.around.unsettled_max = slow_start_.window();
  Round round({config_, waiting_, running_set_, reservations_, seen, last_served_}, now,
              starts_max);
  round.admit(rulings);
  holding_ = round.holding();
}

// Nobody is stopped for what another's client only says. Whether he may start is another matter:
// that goes by the estimates, and by Tenancy::keeps().
void Governor::believe_words() {
  if (running_set_.claims() == 0) return;
  const double share = tenants_.size() > 1 ? 0 : 1;
  for (Member* member : running_set_.members()) {
    if (member->sample.claimed) running_set_.believe(*member, share);
  }
}

void Governor::count(Tenant tenant, int change) {
  const auto known = tenants_.try_emplace(tenant).first;
  known->second += change;
  if (known->second > 0) return;
  tenants_.erase(known);
  reservations_.erase(tenant);
}

void Governor::expect(Kind kind, const Estimate& estimate) {
  waiting_.expect(kind, estimate);
  changed_ = true;
}

void Governor::enter(Ready& job, Instant now) {
  waiting_.enter(job, now);
  count(job.tenant, 1);
  changed_ = true;
}

void Governor::withdraw(Ready& job) {
  waiting_.remove(job);
  const auto kept = reservations_.find(job.tenant);
  if (kept != reservations_.end()) kept->second.give_up(job.job);
  count(job.tenant, -1);
  changed_ = true;
}

void Governor::observe(const Ready& job, const JobSample& sample, Instant now) {
  Member& member = *job.member;
  running_set_.observe(member, sample, now);
  const bool grows = member.rise.most >= to_double(config_.line) * kGrowthLeast;
  // Who was stopped while he grew has not shown how far.
  const bool was_stopped = member.since != member.started && now - member.since < kSettled;
  if (member.state != MemberState::running || was_stopped) return;
  if (member.settled || sample.ran < (grows ? kSettledGrowing : kSettled)) return;
  settle(member);
  if (!is_known(member.estimate)) changed_ = true;
}

void Governor::expect(const Ready& job, const Estimate& estimate, Instant now) {
  running_set_.expect(*job.member, estimate, now);
}

void Governor::leave(Ready& job, const AttemptEnd& end, Instant now) {
  Member& member = *job.member;
  if (!member.settled && succeeded(end)) settle(member);
  running_set_.leave(job, now);
  count(job.tenant, -1);
  Shown shown = waiting_.shown(job.kind);
  if (shown.running > 0) --shown.running;
  shown.ran_seconds = 0;  // the next round counts those that still run
  waiting_.show(job.kind, shown);
  changed_ = true;
  after_end_ = now + kEndGap;
}

void Governor::pause(const Ready& job, Instant now) {
  Member& member = *job.member;
  if (!running_set_.pause(member, now)) return;
  asked_for_.push_back({.action = Freeze{job.job},
                        .reason = "the user requested it",
                        .numbers = {{"job_used_bytes", member.used()}}});
}

void Governor::resume(const Ready& job, Instant now) {
  Member& member = *job.member;
  if (!running_set_.resume(member, now)) return;
  asked_for_.push_back({.action = Thaw{job.job},
                        .reason = "the user requested it",
                        .numbers = {{"job_used_bytes", member.used()}}});
}

// Who was stopped just before he could tell of them goes on.
void Governor::wait_for_commands(const Ready& job, Instant now) {
  Member& member = *job.member;
  if (!std::exchange(member.waits_for_commands, true)) member.used_before_commands = member.used();
  changed_ = true;
  if (!running_set_.release(member, now)) return;
  asked_for_.push_back({.action = Thaw{job.job},
                        .reason = "a command that it has started is to run",
                        .numbers = {{"job_used_bytes", member.used()}}});
}

void Governor::go_on(const Ready& job) {
  job.member->waits_for_commands = false;
  changed_ = true;
}

void Governor::mark_dying(const Ready& job, Instant now) {
  running_set_.mark_dying(*job.member, now);
}

void Governor::set_share(const Share& share) {
  PLIMSOLL_CHECK(share.cores > 0);
  config_.line = share.line;
  running_set_.set_small(to_double(share.common_line.value_or(share.line)) * kSmall);
  cores_ = share.cores;
  taken_ = to_double(share.taken);
  told_ = to_double(share.told);
  left_by_others_.reset();
  if (share.left_by_others) left_by_others_ = to_double(*share.left_by_others);
  has_elder_ = share.has_elder;
  unsettled_elsewhere_ = share.unsettled;
  set_limits();
  changed_ = true;
}

void Governor::set_jobs_max(unsigned jobs_max) {
  PLIMSOLL_CHECK(jobs_max >= 1);
  config_.jobs_max = jobs_max;
  changed_ = true;
}

std::optional<JobId> Governor::keel() const {
  const Member* keel = running_set_.keel();
  return keel == nullptr ? std::nullopt : std::optional(keel->ready.job);
}

std::optional<Instant> Governor::oldest() const {
  const Member* oldest = running_set_.oldest_sizeable();
  return oldest == nullptr ? std::nullopt : std::optional(oldest->started);
}

std::size_t Governor::sizeable() const { return running_set_.sizeable(); }

}  // namespace plimsoll::policy
