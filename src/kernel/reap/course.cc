#include "kernel/reap/course.h"

#include <algorithm>

#include "base/check.h"

namespace plimsoll::reap {

std::string_view name_of(State state) {
  switch (state) {
    case State::live: return "live";
    case State::killing: return "killing";
    case State::stuck: return "stuck";
    case State::removing: return "removing";
    case State::draining: return "draining";
    case State::left: return "left";
    case State::gone: return "gone";
  }
  return {};
}

Course::Next Course::looked(Occupancy seen, Instant now) {
  PLIMSOLL_CHECK(state_ != State::removing && state_ != State::left && state_ != State::gone);
  // A group that was refused is not tried again on every event, only when it is due.
  const bool early = state_ != State::live && now < look_again_;
  if (early && (seen == Occupancy::populated || state_ == State::draining)) {
    return {.act = Act::wait, .look_again = look_again_};
  }
  if (seen == Occupancy::empty) {
    state_ = State::removing;
    return {.act = Act::remove};
  }
  if (gives_up(now)) {
    state_ = State::left;
    return {.act = Act::finish};
  }
  if (state_ != State::stuck) state_ = State::killing;
  return wait_on(Act::kill, now);
}

Course::Next Course::removed(cgroup::Removal removal, Instant now) {
  PLIMSOLL_CHECK(state_ == State::removing);
  if (removal == cgroup::Removal::done) {
    state_ = State::gone;
    return {.act = Act::finish};
  }
  if (gives_up(now)) return denied();
  state_ = State::draining;
  scope_ = cgroup::Scope::every_part;
  return wait_on(Act::wait, now);
}

Course::Next Course::denied() {
  PLIMSOLL_CHECK(state_ == State::removing);
  state_ = State::left;
  return {.act = Act::finish};
}

Course::Next Course::struck_late(Instant now) {
  PLIMSOLL_CHECK(state_ == State::killing || state_ == State::stuck);
  backoff_ = {};
  return wait_on(Act::wait, now);
}

Course::Next Course::wait_on(Act act, Instant now) {
  Next next{.act = act};
  const bool too_early = state_ == State::draining && now - begun_ < kStuckReports[1];
  next.report_stuck = report_is_due(now) && !too_early;
  if (next.report_stuck && state_ == State::killing) state_ = State::stuck;
  look_again_ = std::min(now + backoff_.next(), report_at_);
  next.look_again = look_again_;
  return next;
}

bool Course::report_is_due(Instant now) {
  if (now < report_at_) return false;
  // Reports that a late look has missed are not made up for.
  while (report_at_ <= now) {
    ++reports_;
    report_at_ = reports_ < std::size(kStuckReports) ? begun_ + kStuckReports[reports_]
                                                     : report_at_ + kStuckEvery;
  }
  return true;
}

}  // namespace plimsoll::reap
