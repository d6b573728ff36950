#include "policy/governor/round.h"

#include <algorithm>
#include <string>
#include <utility>

#include "policy/governor/resume_policy.h"
#include "policy/governor/slow_start.h"

namespace plimsoll::policy {
namespace {

// Who runs alone keeps other tenants from starting for so long.
constexpr Duration kAloneForOthers = kReservedJobDrain;

// If nothing that runs has moved for so long, what it waits for may be a command that waits itself,
// as in a pipeline of two. A guess.
constexpr Duration kStillForACommand = std::chrono::seconds(10);

// Jobs of other runs that have yet to show their needs hold nobody back for longer: where one run
// goes on starting unknown ones, the next would never begin. A guess.
constexpr Duration kPaceElsewhereMost = std::chrono::seconds(60);

// Steps beyond the number of places begin so far apart at least, and there are at most twice as
// many as places: they may wait for something else than each other, as those that only ask another
// machine do. Guesses.
constexpr Duration kBeyondPlaces = std::chrono::seconds(15);
constexpr std::size_t kTimesPlaces = 2;

bool may_wait_for(const Ready& job, const Member& member, Instant now) {
  if (member.waits_for_commands) return true;
  const Duration least = job.is_command ? kStillForACommand : kStandStill;
  // One that has slept before, and woken by itself, is given half as long again as that took.
  const Duration still = std::clamp(member.stood * 3 / 2, least, kStandStillMost);
  if (member.held) return false;  // it goes on when there is room
  if (member.paused) return now - member.since >= still;
  return member.state == MemberState::running && now - member.progressed >= still;
}

std::string places_text(const GovernorConfig& config, const Tenancy& tenancy, Tenant tenant) {
  if (config.jobs_max == 1) return "waits for the running job: only one job may run at a time";
  const std::string all = std::to_string(config.jobs_max);
  // All places are the host's: there is no user whom some are left to.
  if (tenant == kHost || tenancy.has_place(tenant)) {
    return "waits because " + all + " jobs are running, which is the limit";
  }
  const std::size_t places = tenancy.places_of(tenant);
  return (places == 1 ? std::string("waits for the only place")
                      : "waits for one of the " + std::to_string(places) + " places") +
         " of its user: " + all + " jobs may run at once, and some places are kept for other users";
}

}  // namespace

void Round::admit(std::vector<Decision>& rulings) {
  rulings_ = &rulings;
  hear_who_waits_for_space();
  hear_the_impatient();
  take_turns();
  give_idle_cores();
  if (disk_holding_) holding_ = std::move(disk_holding_);
  if (ground_.waiting.size() == 0 || ground_.running_set.jobs() < ground_.config.jobs_max) return;
  if (needs_no_place(ground_.waiting.front())) return;
  holding_ = Holding{.job = ground_.waiting.front().first,
                     .cause = HoldCause::places,
                     .reason = places_text(ground_.config, ground_.seen.tenancy, kHost),
                     .numbers = {{"jobs_max", static_cast<double>(ground_.config.jobs_max)}}};
}

void Round::take_turns() {
  while (may_start()) {
    const auto tenant = next();
    if (!tenant) break;
    if (!take_turn(*tenant)) turns_[*tenant].is_over = true;
  }
}

// To those who were held for the disk, one after the other while there are any.
void Round::give_idle_cores() {
  if (!may_start() || !has_idle_cores(ground_.seen.around)) return;
  is_disk_last_ = true;
  disk_holding_.reset();
  for (auto& [tenant, turn] : turns_) {
    if (turn.held_for_disk.empty()) continue;
    turn.to_idle_cores = std::exchange(turn.held_for_disk, {});
    turn.is_over = false;
  }
  take_turns();
}

bool Round::may_start() const {
  if (is_closed_) return false;
  return has_place() || (ground_.waiting.size() > 0 && needs_no_place(ground_.waiting.front()));
}

bool Round::needs_no_place(const Waiting::Rank& rank) const {
  if (rank.is_command) return true;
  const auto& members = ground_.running_set.members();
  if (members.size() >= kTimesPlaces * ground_.config.jobs_max) return false;
  const bool is_long_ago = std::all_of(members.begin(), members.end(), [this](const Member* one) {
    return now_ - one->started >= kBeyondPlaces;
  });
  return is_long_ago && is_awaited(ground_.waiting.first(rank.kind));
}

bool Round::has_place() const {
  return starts_left_ > 0 && ground_.running_set.jobs() < ground_.config.jobs_max;
}

std::optional<Tenant> Round::next() {
  std::optional<Tenant> best;
  Waiting::Rank best_rank;
  double least = 0;
  for (const auto& [tenant, order] : ground_.waiting.orders()) {
    Turn& turn = turns_[tenant];
    if (turn.is_over) continue;
    const Waiting::Rank& rank = *order.begin();
    if (auto barred = bar(tenant, rank)) {
      turn.is_over = true;
      if (!holding_) holding_ = std::move(barred);
      continue;
    }
    const double share = ground_.seen.tenancy.share_of(tenant);
    const bool is_last = tenant == ground_.last_served;
    const bool is_before =
        !best || (rank.is_command != best_rank.is_command  ? rank.is_command
                  : rank.priority != best_rank.priority    ? rank.priority > best_rank.priority
                  : share != least                         ? share < least
                  : is_last || best == ground_.last_served ? !is_last
                                                           : rank.first < best_rank.first);
    if (!is_before) continue;
    best = tenant;
    best_rank = rank;
    least = share;
  }
  return best;
}

// What keeps all of a tenant's jobs from starting.
std::optional<Holding> Round::bar(Tenant tenant, const Waiting::Rank& rank) const {
  const JobId job = rank.first;
  const AdmissionContext& seen = ground_.seen;
  const Tenancy& tenancy = seen.tenancy;
  const bool is_of_alone = seen.alone && seen.alone->waits_for_commands && rank.is_command;
  if (seen.alone && !is_of_alone &&
      (tenant == seen.alone->tenant || now_ < seen.alone->since + kAloneForOthers)) {
    return Holding{.job = job,
                   .cause = HoldCause::alone,
                   .reason = "waits for a job that must run alone",
                   .numbers = {{"used_bytes", seen.around.used}, {"line_bytes", seen.around.line}}};
  }
  if (!tenancy.has_place(tenant) && !needs_no_place(rank)) {
    return Holding{.job = job,
                   .cause = HoldCause::places,
                   .reason = places_text(ground_.config, tenancy, tenant),
                   .numbers = {{"jobs_max", static_cast<double>(ground_.config.jobs_max)},
                               {"places", static_cast<double>(tenancy.places_of(tenant))}}};
  }
  if (is_closed_to_rich_ && tenancy.has_more(tenant)) {
    return Holding{
        .job = job,
        .cause = HoldCause::share,
        .reason = "waits because its user has more memory than another user with waiting jobs",
        .numbers = {{"share", tenancy.share_of(tenant)}, {"fair_share", tenancy.fair_share()}}};
  }
  return std::nullopt;
}

// Whether somebody was admitted.
bool Round::take_turn(Tenant tenant) {
  Turn& turn = turns_[tenant];
  if (!turn.has_begun) {
    turn.has_begun = true;
    const auto reserved_job = reserved_job_of(tenant);
    const bool may = reserved_job && (has_place() || needs_no_place(*reserved_job));
    if (may && consider(tenant, turn, *reserved_job)) return true;
  }
  return fill_cores(tenant, turn) || start_first(tenant, turn);
}

// In their order.
bool Round::start_first(Tenant tenant, Turn& turn) {
  for (const Waiting::Rank& rank : ground_.waiting.orders().at(tenant)) {
    if (turn.is_over) return false;
    if (!is_disk_last_ && is_tried_out(turn)) return false;
    if (!rank.is_command && turn.command_waits) return false;
    if (!has_place() && !needs_no_place(rank)) return false;
    if (turn.refused.contains(rank.kind) || turn.held_for_disk.contains(rank.kind)) continue;
    if (is_disk_last_ && !turn.to_idle_cores.contains(rank.kind)) continue;
    // A copy: an admission changes the order.
    if (consider(tenant, turn, Waiting::Rank(rank))) return true;
  }
  return false;
}

// Who can't start here is not refused for it: memory is kept for the first in the order alone, and
// it is of that one that is told why it waits. Nobody is overtaken who was evicted, nor a first
// that is to show what its kind is like, or has waited for so long that its patience counts.
bool Round::fill_cores(Tenant tenant, Turn& turn) {
  if (!may_overtake(tenant, turn)) return false;
  const Waiting& waiting = ground_.waiting;
  const Waiting::Order& order = waiting.orders().at(tenant);
  const Instant latest = *waiting.first(order.begin()->kind).waits_since + kReservedJobPatienceMin;
  std::size_t tried = 0;
  for (const Waiting::Rank& rank : order) {
    if (++tried > kBackfillDepth || rank.priority != order.begin()->priority) return false;
    const Ready& first = waiting.first(rank.kind);
    if (first.lost > 0) return false;
    if (turn.refused.contains(rank.kind) || turn.held_for_disk.contains(rank.kind)) continue;
    if (turn.overtakes_nobody.contains(rank.kind) || *first.waits_since > latest) continue;
    if (!fills_cores(ground_.seen.around, waiting.estimate(rank.kind))) continue;
    Surroundings around = around_of(tenant, rank);
    for (DiskRoom& room : around.disks) room.is_awaited = true;  // by one that it would overtake
    if (refusal_of(around, rank)) {
      turn.overtakes_nobody.insert(rank.kind);
      continue;
    }
    rulings_->push_back(admission_of(around, first.job, waiting.expected(rank.kind)));
    start(tenant, Waiting::Rank(rank));
    return true;
  }
  return false;
}

// The last place is left to the first. Where several tenants share the machine, shares decide, and
// each keeps his own order.
bool Round::may_overtake(Tenant tenant, const Turn& turn) const {
  const AdmissionContext& seen = ground_.seen;
  if (turn.is_over || is_disk_last_ || seen.tenancy.is_shared()) return false;
  if (ground_.config.order == StartOrder::input) return false;
  const Waiting::Rank& first = *ground_.waiting.orders().at(tenant).begin();
  if (first.is_command || !is_known(ground_.waiting.estimate(first.kind))) return false;
  if (seen.around.cores_predicted + kCoresWide * seen.around.cores > seen.around.cores)
    return false;
  return starts_left_ > 1 && ground_.running_set.jobs() + 1 < ground_.config.jobs_max &&
         seen.tenancy.of(tenant).places + 1 < seen.tenancy.places_of(tenant);
}

// Whether so many of a tenant's kinds were refused that no other is tried.
bool Round::is_tried_out(const Turn& turn) const {
  const std::size_t depth = ground_.config.order == StartOrder::input ? 1 : kBackfillDepth;
  return turn.refused.size() >= depth || turn.held_for_disk.size() >= kHeldForDiskMost;
}

// Who has a place kept for him comes first, wherever he would stand by now.
std::optional<Waiting::Rank> Round::reserved_job_of(Tenant tenant) const {
  const auto kept = ground_.reservations.find(tenant);
  const auto order = ground_.waiting.orders().find(tenant);
  if (kept == ground_.reservations.end() || !kept->second.job()) return std::nullopt;
  if (order == ground_.waiting.orders().end()) return std::nullopt;
  for (const Waiting::Rank& rank : order->second) {
    if (rank.first != *kept->second.job()) continue;
    const Waiting::Rank& begin = *order->second.begin();
    if (rank.is_command != begin.is_command || rank.priority != begin.priority) return std::nullopt;
    return rank;
  }
  return std::nullopt;
}

// Whoever has less is before them in every round and would never hear of them.
void Round::hear_the_impatient() {
  if (!ground_.seen.tenancy.is_shared()) return;
  for (const auto& [tenant, kept] : ground_.reservations) {
    const auto reserved_job = reserved_job_of(tenant);
    if (!may_start() || !has_place() || !reserved_job || bar(tenant, *reserved_job)) continue;
    if (!kept.out_of_patience(ground_.waiting.expected(reserved_job->kind), now_)) continue;
    Turn& turn = turns_[tenant];
    turn.has_begun = true;
    static_cast<void>(consider(tenant, turn, *reserved_job));
  }
}

Surroundings Round::around_of(Tenant tenant, const Waiting::Rank& rank) const {
  Surroundings around = around_of(tenant);
  // What runs only to wait for commands is nothing that they could wait for; and whoever waits for
  // a command, or in the order of input, would stand still for the disk with it.
  if (rank.is_command) around.running -= around.waiting_for_commands;
  if (rank.is_command || ground_.config.order == StartOrder::input) around.io = {};
  if (is_disk_last_ && has_idle_cores(ground_.seen.around)) around.io = {};
  const Duration waited = now_ - *ground_.waiting.first(rank.kind).waits_since;
  if (waited >= kPaceElsewhereMost) around.unsettled_elsewhere = 0;
  share_space(around, tenant, rank);
  return around;
}

std::optional<Refused> Round::refusal_of(const Surroundings& around,
                                         const Waiting::Rank& rank) const {
  const Waiting& waiting = ground_.waiting;
  const Ready& first = waiting.first(rank.kind);
  const bool has_waited = now_ - *first.waits_since >= ground_.config.cores_wait_max;
  return refuse(around, first, waiting.expected(rank.kind), waiting.shown(rank.kind),
                SlowStart::window_of_kind(waiting.settled_ever(rank.kind)),
                has_waited ? Patience::over : Patience::left);
}

bool Round::consider(Tenant tenant, Turn& turn, const Waiting::Rank& rank) {
  const Surroundings around = around_of(tenant, rank);
  const Estimate estimate = ground_.waiting.expected(rank.kind);
  const Ready& first = ground_.waiting.first(rank.kind);
  const JobId job = first.job;
  const auto refused = refusal_of(around, rank);
  if (!refused || is_awaited(first)) {
    rulings_->push_back(refused ? admission_of_awaited(around, job, estimate)
                                : admission_of(around, job, estimate));
    start(tenant, rank);
    return true;
  }
  if (refused->why == HoldCause::disk) {
    turn.held_for_disk.insert(rank.kind);
    if (!holding_ && !disk_holding_) disk_holding_ = holding_of(around, job, estimate, *refused);
    return false;
  }
  turn.refused.insert(rank.kind);
  turn.command_waits |= rank.is_command;
  if (!holding_) holding_ = holding_of(around, job, estimate, *refused);
  if (refused->why == HoldCause::space) refused_for_space(tenant, refused->disk, estimate);
  if (refused->why == HoldCause::memory || refused->why == HoldCause::alone) {
    refused_for_memory(tenant, turn, job, estimate);
  }
  return false;
}

// Whether all that runs may be waiting for it.
bool Round::is_awaited(const Ready& job) const {
  const auto& members = ground_.running_set.members();
  if (!job.is_command && (!job.may_be_awaited || members.empty())) return false;
  return std::all_of(members.begin(), members.end(),
                     [&](const Member* one) { return may_wait_for(job, *one, now_); });
}

void Round::start(Tenant tenant, const Waiting::Rank& rank) {
  const Estimate estimate = ground_.waiting.expected(rank.kind);
  Ready& ready = ground_.waiting.first(rank.kind);
  ground_.waiting.remove(ready);
  AdmissionContext& seen = ground_.seen;
  count_in(seen.around, estimate);
  count_in_space(tenant, estimate);
  seen.tenancy.count_in(ready, estimate);
  if (seen.tenancy.is_shared()) seen.yielding.add(demand_of(estimate), is_known(estimate));
  ground_.waiting.started(ready);
  const auto kept = ground_.reservations.find(tenant);
  if (kept != ground_.reservations.end()) kept->second.give_up(ready.job);
  ground_.running_set.start(ready, estimate, now_);
  if (!ready.is_command && starts_left_ > 0) --starts_left_;
  ground_.last_served = tenant;
  if (ready.lost >= kEvictionsMax) seen.around.right_of_way_taken = true;
  if (ready.lost > kEvictionsMax) is_closed_ = true;
}

// The first of them has a place kept. Others wait for it as far as its tenant's share goes.
void Round::refused_for_memory(Tenant tenant, Turn& turn, JobId job, const Estimate& estimate) {
  const Tenancy& tenancy = ground_.seen.tenancy;
  if (tenancy.is_shared() && tenancy.is_due(tenant, estimate)) is_closed_to_rich_ = true;
  if (turn.has_reserved_job) return;
  turn.has_reserved_job = true;
  Reservation& kept = ground_.reservations[tenant];
  kept.keep_for(job, now_);
  if (kept.out_of_patience(estimate, now_)) {
    turn.is_over = true;
    turn.held_for_disk.clear();  // nor do these start before it
    is_closed_to_rich_ = true;
    if (!tenancy.is_shared() || kept.holds_everybody(estimate, now_)) is_closed_ = true;
    return;
  }
  const Surroundings around = around_of(tenant);
  const Reservation::Place place = Reservation::place_of(around.demand_forecast, estimate, around.z,
                                                         around.line - around.margin);
  if (!place.from) return;
  ground_.seen.around.demand_forecast.add(place.demand, place.known);
  places_[tenant] = place;
}

// Who has not more than his share sees of others what they keep from him, and no place of theirs.
Surroundings Round::around_of(Tenant tenant) const {
  const AdmissionContext& seen = ground_.seen;
  Surroundings around = seen.around;
  around.frozen_for_cores = seen.tenancy.of(tenant).frozen_for_cores;
  if (!seen.tenancy.is_shared()) return around;
  const Holdings& own = seen.tenancy.of(tenant);
  const std::size_t tenants = seen.tenancy.tenants();
  around.unsettled = std::min(around.unsettled, own.unsettled * tenants);
  around.cores_predicted =
      std::min(around.cores_predicted, own.cores * static_cast<double>(tenants));
  if (seen.tenancy.is_behind(tenant)) {
    around.cores_predicted = std::min(around.cores_predicted, own.cores);
    around.cores_fill = kCoresFillSmall;
  }
  around.io.running = std::min(around.io.running, own.io_bound);
  share_space(around, tenant);
  if (seen.tenancy.has_more(tenant)) return around;
  around.demand_forecast = seen.yielding;
  around.demand_forecast.add_constant(own.claimed);
  if (const auto place = places_.find(tenant); place != places_.end()) {
    around.demand_forecast.add(place->second.demand, place->second.known);
  }
  return around;
}

}  // namespace plimsoll::policy
