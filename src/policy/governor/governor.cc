#include "policy/governor/governor.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "policy/governor/admission.h"
#include "policy/governor/admission_context.h"
#include "policy/governor/crowding.h"
#include "policy/governor/hindsight.h"
#include "policy/governor/memory_response.h"
#include "policy/governor/reservation.h"
#include "policy/governor/resume_policy.h"
#include "policy/governor/round.h"
#include "policy/governor/running_set.h"
#include "policy/governor/safety_margin.h"
#include "policy/governor/slow_start.h"
#include "policy/governor/waiting.h"

namespace plimsoll::policy {
namespace {

// Time changes what is expected, if nothing else does: who waits is looked at again so often.
constexpr Duration kRoundGap = std::chrono::seconds(1);
// After an end what the others have is quite known when they were looked at, soon: then once more.
constexpr Duration kEndGap = kSampleMax;
// After a freeze or an eviction for memory nobody is admitted until all that run have been looked
// at anew, so that what went wrong is in what is believed of them; and no longer than this.
constexpr Duration kCalmMax = std::chrono::seconds(3);

}  // namespace

class Governor::State {
 public:
  explicit State(GovernorConfig config)
      : config_(config), cores_(config.cores), waiting_(config.order) {
    PLIMSOLL_CHECK(config_.cores > 0 && config_.jobs_max >= 1);
    set_limits();
  }

  void set_limits();
  void settle(Member& member);
  void look(const MachineSample& sample, Instant now);
  std::vector<Decision> rule(Instant now, unsigned starts_max);
  void count(Tenant tenant, int change);

  GovernorConfig config_;
  double cores_;      // that this run may plan with; the machine has config_.cores
  double taken_ = 0;  // bytes of the line that other runs are about to use
  double told_ = 0;   // and that other users' runs say they have: for starts alone
  std::optional<double> left_by_others_;  // bytes, as Share has it
  Waiting waiting_;
  RunningSet running_set_;
  MemoryResponse memory_response_;
  ResumePolicy resume_policy_;
  SlowStart slow_start_;
  SafetyMargin safety_margin_;
  Crowding crowding_;
  Reservations reservations_;
  std::optional<Tenant> last_served_;
  std::map<Tenant, int> tenants_;  // how many of whose jobs run or wait
  Processors processors_;
  Hindsight hindsight_;
  std::optional<double>
      machine_limit_;  // bytes that the pool may have by what the machine has left
  MemoryResponse::Limits limits_;
  std::optional<Holding> holding_;
  std::optional<Instant> next_wake_;
  std::vector<Decision> by_user_;     // freezes and thaws that the user asked for
  bool changed_ = true;               // since the last round, in a way that may let somebody start
  std::optional<Instant> after_end_;  // when who waits is looked at once more for that

 private:
  void admit(Instant now, unsigned starts_max, AdmissionContext& seen,
             std::vector<Decision>& rulings);
  void believe_words(const Tenancy& tenancy, Instant now);
  [[nodiscard]] bool is_calm(Instant now) const;
  void set_wake(Instant now);

  std::optional<Instant> last_round_;
};

void Governor::State::set_limits() {
  limits_.line = limits_.limit = to_double(config_.line);
  limits_.left_by_others = left_by_others_;
  if (machine_limit_) limits_.limit = std::clamp(*machine_limit_, 0.0, limits_.line);
}

void Governor::State::look(const MachineSample& sample, Instant now) {
  processors_.observe(sample, now);
  running_set_.observe(sample, now);
  machine_limit_.reset();
  if (sample.available) {
    machine_limit_ = running_set_.used() + static_cast<double>(sample.available->count) -
                     to_double(config_.reserve);
  }
  set_limits();
}

// It has shown its needs.
void Governor::State::settle(Member& member) {
  member.settled = true;
  waiting_.settled(member.ready.kind);
  if (!member.was_known) slow_start_.settled();
}

bool Governor::State::is_calm(Instant now) const {
  if (running_set_.is_giving_back(now)) return false;
  const auto trouble = memory_response_.last_trouble();
  return !trouble || now >= *trouble + kCalmMax || running_set_.is_seen_since(*trouble);
}

std::vector<Decision> Governor::State::rule(Instant now, unsigned starts_max) {
  std::vector<Decision> rulings = std::move(by_user_);
  by_user_.clear();
  ResumePolicy::free_keel(running_set_, now, rulings);
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
    seen.around.demand_forecast.add_constant(taken_);
    seen.yielding.add_constant(taken_);
    believe_words(seen.tenancy, now);
    hindsight_.forecast(running_set_, seen.going, limits_.line, now);
    resume_policy_.descend(running_set_, config_, limits_, seen, now, rulings);
    // After what decides about those that run: only who has not begun waits for a claim.
    seen.around.told = told_;
    seen.around.demand_forecast.add_constant(seen.around.claimed + told_);
    seen.yielding.add_constant(told_);
    admit(now, starts_max, seen, rulings);
  }
  for (const Decision& decision : rulings) {
    if (std::holds_alternative<Evict>(decision.verdict)) safety_margin_.evicted(now);
    if (std::holds_alternative<Freeze>(decision.verdict)) safety_margin_.paused(now);
  }
  if (config_.may_pause) crowding_.relieve(running_set_, config_.cores, now, rulings);
  if (waiting_.size() == 0) holding_.reset();
  set_wake(now);
  return rulings;
}

void Governor::State::set_wake(Instant now) {
  next_wake_ = memory_response_.next_sample();
  if (waiting_.size() == 0 && running_set_.held() == 0) return;
  Instant round = last_round_ ? *last_round_ + kRoundGap : now;
  if (after_end_) round = std::min(round, *after_end_);
  next_wake_ = next_wake_ ? std::min(*next_wake_, round) : round;
}

void Governor::State::admit(Instant now, unsigned starts_max, AdmissionContext& seen,
                            std::vector<Decision>& rulings) {
  holding_.reset();
  if (waiting_.size() == 0 || starts_max == 0) return;
  if (!is_calm(now)) {
    holding_ =
        Holding{.job = waiting_.front().first,
                .cause = HoldCause::calm,
                .reason = "waits until memory use has settled after a shortage",
                .numbers = {{"used_bytes", running_set_.used()}, {"line_bytes", limits_.limit}}};
    return;
  }
  seen.around.unsettled_max = slow_start_.window();
  Round round({config_, waiting_, running_set_, reservations_, seen, last_served_}, now,
              starts_max);
  round.admit(rulings);
  holding_ = round.holding();
}

// What clients only say keeps memory from others no longer than what they were promised does.
void Governor::State::believe_words(const Tenancy& tenancy, Instant now) {
  for (auto& [job, member] : running_set_.members()) {
    if (member.sample.claimed) running_set_.believe(member, tenancy.keeps(member, now));
  }
}

void Governor::State::count(Tenant tenant, int change) {
  const auto known = tenants_.try_emplace(tenant).first;
  known->second += change;
  if (known->second > 0) return;
  tenants_.erase(known);
  reservations_.erase(tenant);
}

Governor::Governor(GovernorConfig config) : state_(std::make_unique<State>(config)) {}
Governor::~Governor() = default;
Governor::Governor(Governor&&) noexcept = default;
Governor& Governor::operator=(Governor&&) noexcept = default;

void Governor::expect(Kind kind, const Estimate& estimate) {
  state_->waiting_.expect(kind, estimate);
  state_->changed_ = true;
}

void Governor::forget(Kind kind) { state_->waiting_.forget(kind); }

void Governor::enter(const Ready& job, Instant now) {
  state_->waiting_.enter(job, now);
  state_->count(job.tenant, 1);
  state_->changed_ = true;
}

void Governor::withdraw(JobId job) {
  const auto gone = state_->waiting_.remove(job);
  PLIMSOLL_CHECK(gone);
  const Tenant tenant = gone->ready.tenant;
  const auto kept = state_->reservations_.find(tenant);
  if (kept != state_->reservations_.end()) kept->second.give_up(job);
  state_->count(tenant, -1);
  state_->changed_ = true;
}

void Governor::observe(JobId job, const JobSample& sample, Instant now) {
  Member& member = state_->running_set_.at(job);
  state_->running_set_.observe(member, sample, now);
  const bool grows = member.rise.most >= to_double(state_->config_.line) * kGrowthLeast;
  if (member.settled || sample.ran < (grows ? kSettledGrowing : kSettled)) return;
  state_->settle(member);
  if (!is_known(member.estimate)) state_->changed_ = true;
}

void Governor::expect(JobId job, const Estimate& estimate, Instant now) {
  state_->running_set_.expect(state_->running_set_.at(job), estimate, now);
}

void Governor::tick(const MachineSample& sample, Instant now) { state_->look(sample, now); }

void Governor::leave(JobId job, const AttemptEnd& end, Instant now) {
  Member& member = state_->running_set_.at(job);
  const Kind kind = member.ready.kind;
  const Tenant tenant = member.ready.tenant;
  if (!member.settled && succeeded(end)) state_->settle(member);
  state_->running_set_.leave(job);
  state_->count(tenant, -1);
  Shown shown = state_->waiting_.shown(kind);
  if (shown.running > 0) --shown.running;
  shown.ran_seconds = 0;  // the next round counts those that still run
  state_->waiting_.show(kind, shown);
  state_->changed_ = true;
  state_->after_end_ = now + kEndGap;
}

void Governor::pause(JobId job, Instant now) {
  Member& member = state_->running_set_.at(job);
  if (!state_->running_set_.pause(member, now)) return;
  state_->by_user_.push_back({.verdict = Freeze{job},
                              .reason = "the user requested it",
                              .numbers = {{"job_used_bytes", member.used()}}});
}

void Governor::resume(JobId job, Instant now) {
  Member& member = state_->running_set_.at(job);
  if (!state_->running_set_.resume(member, now)) return;
  state_->by_user_.push_back({.verdict = Thaw{job},
                              .reason = "the user requested it",
                              .numbers = {{"job_used_bytes", member.used()}}});
}

void Governor::mark_dying(JobId job, Instant now) {
  state_->running_set_.mark_dying(state_->running_set_.at(job), now);
}

std::vector<Decision> Governor::rule(Instant now, unsigned starts_max) {
  return state_->rule(now, starts_max);
}

std::optional<Instant> Governor::next_wake() const { return state_->next_wake_; }
const std::optional<Holding>& Governor::holding() const { return state_->holding_; }

void Governor::set_share(const Share& share) {
  PLIMSOLL_CHECK(share.cores > 0);
  state_->config_.line = share.line;
  state_->cores_ = share.cores;
  state_->taken_ = to_double(share.taken);
  state_->told_ = to_double(share.told);
  state_->left_by_others_.reset();
  if (share.left_by_others) state_->left_by_others_ = to_double(*share.left_by_others);
  state_->set_limits();
  state_->changed_ = true;
}

void Governor::set_jobs_max(unsigned jobs_max) {
  PLIMSOLL_CHECK(jobs_max >= 1);
  state_->config_.jobs_max = jobs_max;
  state_->changed_ = true;
}

double Governor::cores() const { return state_->cores_; }
std::optional<double> Governor::cores_of_others() const { return state_->processors_.others(); }
const GovernorConfig& Governor::config() const { return state_->config_; }

bool Governor::is_frozen(JobId job) const {
  const Member* member = state_->running_set_.find(job);
  return member != nullptr && member->state == MemberState::frozen;
}

std::optional<JobId> Governor::keel() const { return state_->running_set_.keel(); }
Bytes Governor::used() const { return to_bytes(state_->running_set_.used()); }
std::size_t Governor::running() const { return state_->running_set_.size(); }
std::size_t Governor::frozen() const { return state_->running_set_.frozen(); }
std::size_t Governor::waiting() const { return state_->waiting_.size(); }

}  // namespace plimsoll::policy
