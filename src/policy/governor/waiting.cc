#include "policy/governor/waiting.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "policy/estimator/demand_forecast.h"

namespace plimsoll::policy {
namespace {

// A kind of which nothing is known goes first, one job of it: what it is like may turn out to be
// what decides how long all of it takes.
constexpr double kUnseenFirst = 1e9;  // seconds
// Shorter ones are as long as this, in seconds.
constexpr double kShortest = 1.0 / 16;
// Those that enter within so large a part of their length enter together.
constexpr double kTogether = 1.0 / 8;

// How long a job of the kind is expected to take. Those that still run count for as long as they
// have: among the first to end the short ones are too many. (For times without memory this is the
// most likely mean.)
double expected_seconds(const Estimate& estimate, const Shown& shown) {
  const double known = estimate.attempts_known;
  if (known < 1 && shown.running == 0) return kUnseenFirst;
  const double mean =
      (estimate.remaining.mean * std::max(known, 1.0) + shown.ran_seconds) / std::max(known, 1.0);
  return mean + estimate.remaining.spread;
}

// Its length in powers of two, less the time of entering in steps.
double ranked_seconds(const Waiting::KindState& state, const Ready& head) {
  const double entered = to_seconds(head.waits_since->time_since_epoch());
  const double expected = expected_seconds(state.estimate, state.shown);
  const double seconds = expected < kUnseenFirst ? std::max(expected, kShortest) : kUnseenFirst;
  const double length = std::exp2(std::floor(std::log2(seconds)));
  // A job that was evicted or lost has waited from the beginning: it does not start behind.
  if (head.lost > 0) return length;
  const double step = length * kTogether;
  return length - std::floor(entered / step) * step;
}

// Of the first that waits, among all of its kind that have begun or wait: in the middle of its part
// of 0..1.
double place_in_kind(const Waiting::KindState& state) {
  const auto started = static_cast<double>(state.started);
  return (started + 0.5) / (started + static_cast<double>(state.jobs.size()));
}

}  // namespace

void Waiting::rank(Kind kind, KindState& state) {
  if (state.rank) {
    const auto order = orders_.find(state.tenant);
    order->second.erase(*state.rank);
    state.rank.reset();
    if (order->second.empty()) orders_.erase(order);
  }
  if (state.jobs.empty()) return;
  const Ready& head = **state.jobs.begin();
  state.rank = {.is_command = head.is_command,
                .priority = head.priority,
                .seconds = by_ == StartOrder::input ? 0 : ranked_seconds(state, head),
                .place = by_ == StartOrder::input ? 0 : place_in_kind(state),
                .first = head.job,
                .kind = kind};
  orders_[state.tenant].insert(*state.rank);
}

void Waiting::expect(Kind kind, const Estimate& estimate) {
  KindState& state = kinds_[kind];
  state.estimate = estimate;
  rank(kind, state);
}

void Waiting::forget(Kind kind) {
  const auto found = kinds_.find(kind);
  if (found == kinds_.end()) return;
  PLIMSOLL_CHECK(found->second.jobs.empty());
  kinds_.erase(found);
}

void Waiting::enter(Ready& job, Instant now) {
  PLIMSOLL_CHECK(!job.waits_since && job.member == nullptr);
  const auto kind = kinds_.find(job.kind);
  PLIMSOLL_CHECK(kind != kinds_.end());
  KindState& state = kind->second;
  PLIMSOLL_CHECK(state.jobs.empty() || state.tenant == job.tenant);
  state.tenant = job.tenant;
  job.waits_since = now;
  const bool is_new = state.jobs.insert(&job).second;
  PLIMSOLL_CHECK(is_new);
  ++size_;
  rank(job.kind, state);
}

void Waiting::remove(Ready& job) {
  KindState& state = kinds_.at(job.kind);
  const bool has_waited = state.jobs.erase(&job) > 0;
  PLIMSOLL_CHECK(has_waited);
  job.waits_since.reset();
  --size_;
  rank(job.kind, state);
}

void Waiting::show(Kind kind, const Shown& shown) {
  KindState& state = kinds_.at(kind);
  state.shown = shown;
  rank(kind, state);
}

void Waiting::started(const Ready& job) {
  const Kind kind = job.kind;
  KindState& state = kinds_.at(kind);
  if (job.lost == 0) ++state.started;
  if (state.jobs.empty()) state.started = 0;
  ++state.shown.running;
  ++state.shown.unsettled;
  rank(kind, state);
}

const Waiting::Rank& Waiting::front() const {
  PLIMSOLL_CHECK(!orders_.empty());
  const auto first = std::min_element(
      orders_.begin(), orders_.end(),
      [](const auto& a, const auto& b) { return *a.second.begin() < *b.second.begin(); });
  return *first->second.begin();
}

const Shown& Waiting::shown(Kind kind) const { return kinds_.at(kind).shown; }

Estimate Waiting::expected(Kind kind) const {
  const KindState& state = kinds_.at(kind);
  Estimate estimate = state.estimate;
  if (!estimate.written && state.shown.to_write) {
    estimate.written = Belief{*state.shown.to_write, 0};
  }
  if (!estimate.io) estimate.io = state.shown.io;
  if (is_known(estimate) || state.shown.peak_bytes <= 0) return estimate;
  const double shown = state.shown.peak_bytes;
  estimate.peak.mean = std::max(estimate.peak.mean, shown);
  for (Belief& ahead : estimate.ahead) ahead.mean = std::max(ahead.mean, shown);
  return estimate;
}

}  // namespace plimsoll::policy
