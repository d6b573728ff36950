#include "policy/governor.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "policy/admission.h"
#include "policy/caution.h"
#include "policy/crowding.h"
#include "policy/descent.h"
#include "policy/fleet.h"
#include "policy/ladder.h"
#include "policy/pacing.h"
#include "policy/reservation.h"
#include "policy/survey.h"
#include "policy/waiting.h"

namespace plimsoll::policy {
namespace {

// Time changes what is expected, if nothing else does: who waits is looked at again so often.
constexpr Duration kRoundGap = std::chrono::seconds(1);
// After a freeze or an eviction for memory nobody is admitted for so long.
constexpr Duration kCalm = std::chrono::seconds(3);
// So many kinds are tried behind those that do not fit; a bound on the time of one decision.
constexpr std::size_t kBackfillDepth = 64;

}  // namespace

class Governor::State {
 public:
  explicit State(GovernorConfig config) : config_(config), cores_(config.cores) {
    PLIMSOLL_CHECK(config_.cores > 0 && config_.jobs_max >= 1);
    set_limits();
  }

  void set_limits();
  void settle(Member& member);
  void look(const MachineSample& sample, Instant now);
  std::vector<Ruling> rule(Instant now, unsigned starts_max);

  GovernorConfig config_;
  double cores_;  // that this run may plan with; the machine has config_.cores
  Waiting waiting_;
  Fleet fleet_;
  Ladder ladder_;
  Descent descent_;
  Pacing pacing_;
  Caution caution_;
  Crowding crowding_;
  Reservation reservation_;
  Processors processors_;
  std::optional<double>
      machine_limit_;  // bytes that the pool may have by what the machine has left
  Ladder::Limits limits_;
  std::optional<Holding> holding_;
  std::optional<Instant> next_wake_;
  std::vector<Ruling> by_user_;  // freezes and thaws that the user asked for
  bool changed_ = true;          // since the last round, in a way that may let somebody start

 private:
  struct Round;
  void admit(Instant now, unsigned starts_max, Survey& seen, std::vector<Ruling>& rulings);
  bool consider(Round& round, const Waiting::Rank& rank);
  void place_giant(Round& round, JobId job, const Estimate& giant);
  [[nodiscard]] bool is_calm(Instant now) const;
  void set_wake(Instant now);

  std::optional<Instant> last_round_;
};

// One round of admissions.
struct Governor::State::Round {
  Instant now;
  unsigned starts_left;
  Surroundings& around;
  std::vector<Ruling>& rulings;
  std::set<Kind> refused{};
  bool giant_placed = false;
  bool closed = false;  // a giant has waited long enough

  [[nodiscard]] bool may_start() const { return !closed && starts_left > 0; }
};

void Governor::State::set_limits() {
  limits_.line = limits_.limit = to_double(config_.line);
  if (machine_limit_) limits_.limit = std::clamp(*machine_limit_, 0.0, limits_.line);
}

void Governor::State::look(const MachineSample& sample, Instant now) {
  processors_.observe(sample, now);
  fleet_.observe(sample);
  machine_limit_.reset();
  if (sample.available) {
    machine_limit_ =
        fleet_.used() + static_cast<double>(sample.available->count) - to_double(config_.reserve);
  }
  set_limits();
}

// It has shown its needs.
void Governor::State::settle(Member& member) {
  member.settled = true;
  waiting_.settled(member.ready.kind);
  if (!member.was_known) pacing_.settled();
}

bool Governor::State::is_calm(Instant now) const {
  const auto trouble = ladder_.last_trouble();
  return (!trouble || now >= *trouble + kCalm) && !fleet_.is_giving_back(now);
}

std::vector<Ruling> Governor::State::rule(Instant now, unsigned starts_max) {
  std::vector<Ruling> rulings = std::move(by_user_);
  by_user_.clear();
  Descent::free_keel(fleet_, now, rulings);
  const auto trouble = ladder_.last_trouble();
  ladder_.climb(fleet_, config_, limits_, now, rulings);
  if (ladder_.last_trouble() != trouble && fleet_.dying() > 0) pacing_.trouble();
  const bool due = changed_ || !last_round_ || now >= *last_round_ + kRoundGap;
  if (due && (waiting_.size() > 0 || fleet_.held() > 0)) {
    last_round_ = now;
    changed_ = false;
    Survey seen =
        survey(fleet_, config_, limits_, caution_.margin(now), processors_, now, waiting_);
    seen.around.cores = cores_;
    descent_.descend(fleet_, config_, limits_, seen, now, rulings);
    admit(now, starts_max, seen, rulings);
  }
  for (const Ruling& ruling : rulings) {
    if (std::holds_alternative<Evict>(ruling.verdict)) caution_.evicted(now);
    if (std::holds_alternative<Freeze>(ruling.verdict)) caution_.paused(now);
  }
  if (config_.may_pause) crowding_.relieve(fleet_, config_.cores, processors_, now, rulings);
  if (waiting_.size() == 0) holding_.reset();
  set_wake(now);
  return rulings;
}

void Governor::State::set_wake(Instant now) {
  next_wake_ = ladder_.next_look();
  if (waiting_.size() == 0 && fleet_.held() == 0) return;
  const Instant round = last_round_ ? *last_round_ + kRoundGap : now;
  next_wake_ = next_wake_ ? std::min(*next_wake_, round) : round;
}

void Governor::State::admit(Instant now, unsigned starts_max, Survey& seen,
                            std::vector<Ruling>& rulings) {
  holding_.reset();
  if (waiting_.size() == 0 || starts_max == 0) return;
  const Waiting::Rank front = *waiting_.order().begin();
  if (seen.one_is_alone || !is_calm(now)) {
    holding_ = Holding{.job = front.first,
                       .cause = seen.one_is_alone ? HoldCause::alone : HoldCause::calm,
                       .reason = seen.one_is_alone ? "waits for a job that must run alone"
                                                   : "waits until memory has been calm for a while",
                       .numbers = {{"used_bytes", fleet_.used()}, {"line_bytes", limits_.limit}}};
    return;
  }
  seen.around.unsettled_max = pacing_.window();
  Round round{now, starts_max, seen.around, rulings};
  // Who has a place kept for him comes first, wherever he would stand by now.
  if (const auto giant = reservation_.job()) {
    for (const Waiting::Rank& rank : waiting_.order()) {
      if (rank.first != *giant) continue;
      if (rank.priority == front.priority && fleet_.size() < config_.jobs_max) {
        consider(round, Waiting::Rank(rank));
      }
      break;
    }
  }
  bool again = true;
  while (again && round.may_start() && fleet_.size() < config_.jobs_max) {
    again = false;
    for (const Waiting::Rank& rank : waiting_.order()) {
      if (round.refused.contains(rank.kind)) continue;
      if (round.refused.size() >= kBackfillDepth) break;
      if (!consider(round, Waiting::Rank(rank))) continue;
      again = true;  // the order has changed
      break;
    }
  }
  if (waiting_.size() == 0 || fleet_.size() < config_.jobs_max) return;
  holding_ = Holding{.job = waiting_.order().begin()->first,
                     .cause = HoldCause::places,
                     .reason = "waits for one of " + std::to_string(config_.jobs_max) +
                               " places: so many jobs run at once at most",
                     .numbers = {{"jobs_max", static_cast<double>(config_.jobs_max)}}};
}

// Whether it was admitted.
bool Governor::State::consider(Round& round, const Waiting::Rank& rank) {
  if (round.closed || round.refused.contains(rank.kind)) return false;
  const Ready ready = waiting_.first(rank).ready;
  const Estimate estimate = waiting_.expected(rank.kind);
  const auto refused = refuse(round.around, ready, estimate, waiting_.shown(rank.kind),
                              Pacing::window_of_kind(waiting_.settled_ever(rank.kind)));
  if (!refused) {
    round.rulings.push_back(admission_of(round.around, ready.job, estimate));
    count_in(round.around, estimate);
    waiting_.remove(ready.job);
    waiting_.started(rank.kind);
    reservation_.give_up(ready.job);
    fleet_.start(ready, estimate, round.now);
    --round.starts_left;
    if (ready.lost >= kEvictionsMax) round.around.right_of_way_taken = true;
    if (ready.lost > kEvictionsMax) round.closed = true;
    return true;
  }
  round.refused.insert(rank.kind);
  if (!holding_) holding_ = holding_of(round.around, ready.job, estimate, *refused);
  const bool for_memory = refused->why == HoldCause::memory || refused->why == HoldCause::alone;
  if (for_memory && !round.giant_placed) {
    reservation_.keep_for(ready.job, round.now);
    place_giant(round, ready.job, estimate);
  }
  return false;
}

void Governor::State::place_giant(Round& round, JobId job, const Estimate& giant) {
  round.giant_placed = true;
  if (reservation_.out_of_patience(giant, round.now)) {
    round.closed = true;
    return;
  }
  if (reservation_.job() != job) return;
  const Reservation::Place place =
      Reservation::place_of(round.around.outlook, giant, round.around.z, round.around.line);
  if (place.from) round.around.outlook.add(place.demand, place.known);
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
  state_->changed_ = true;
}

void Governor::withdraw(JobId job) {
  PLIMSOLL_CHECK(state_->waiting_.remove(job));
  state_->reservation_.give_up(job);
  state_->changed_ = true;
}

void Governor::observe(JobId job, const JobSample& sample, Instant now) {
  Member& member = state_->fleet_.at(job);
  state_->fleet_.observe(member, sample, now);
  if (member.settled || sample.ran < kSettled) return;
  state_->settle(member);
  if (!is_known(member.estimate)) state_->changed_ = true;
}

void Governor::expect(JobId job, const Estimate& estimate, Instant now) {
  state_->fleet_.expect(state_->fleet_.at(job), estimate, now);
}

void Governor::tick(const MachineSample& sample, Instant now) { state_->look(sample, now); }

void Governor::leave(JobId job, const AttemptEnd& end, Instant) {
  Member& member = state_->fleet_.at(job);
  const Kind kind = member.ready.kind;
  if (!member.settled && succeeded(end)) state_->settle(member);
  state_->fleet_.leave(job);
  Shown shown = state_->waiting_.shown(kind);
  if (shown.running > 0) --shown.running;
  shown.ran_seconds = 0;  // the next round counts those that still run
  state_->waiting_.show(kind, shown);
  state_->changed_ = true;
}

void Governor::pause(JobId job, Instant now) {
  Member& member = state_->fleet_.at(job);
  if (!state_->fleet_.pause(member, now)) return;
  state_->by_user_.push_back({.verdict = Freeze{job},
                              .reason = "the user has asked for it",
                              .numbers = {{"job_used_bytes", member.used()}}});
}

void Governor::resume(JobId job, Instant now) {
  Member& member = state_->fleet_.at(job);
  if (!state_->fleet_.resume(member, now)) return;
  state_->by_user_.push_back({.verdict = Thaw{job},
                              .reason = "the user has asked for it",
                              .numbers = {{"job_used_bytes", member.used()}}});
}

void Governor::condemn(JobId job, Instant now) {
  state_->fleet_.condemn(state_->fleet_.at(job), now);
}

std::vector<Ruling> Governor::rule(Instant now, unsigned starts_max) {
  return state_->rule(now, starts_max);
}

std::optional<Instant> Governor::next_wake() const { return state_->next_wake_; }
const std::optional<Holding>& Governor::holding() const { return state_->holding_; }

void Governor::set_share(const Share& share) {
  PLIMSOLL_CHECK(share.cores > 0);
  state_->config_.line = share.line;
  state_->cores_ = share.cores;
  state_->set_limits();
  state_->changed_ = true;
}

void Governor::set_jobs_max(unsigned jobs_max) {
  PLIMSOLL_CHECK(jobs_max >= 1);
  state_->config_.jobs_max = jobs_max;
  state_->changed_ = true;
}

double Governor::cores() const { return state_->cores_; }
const GovernorConfig& Governor::config() const { return state_->config_; }

bool Governor::is_frozen(JobId job) const {
  const Member* member = state_->fleet_.find(job);
  return member != nullptr && member->state == MemberState::frozen;
}

std::optional<JobId> Governor::keel() const { return state_->fleet_.keel(); }
Bytes Governor::used() const { return to_bytes(state_->fleet_.used()); }
std::size_t Governor::running() const { return state_->fleet_.size(); }
std::size_t Governor::frozen() const { return state_->fleet_.frozen(); }
std::size_t Governor::waiting() const { return state_->waiting_.size(); }

}  // namespace plimsoll::policy
