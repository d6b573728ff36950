#include "kernel/cgroup/kill.h"

#include <csignal>

#include <algorithm>
#include <utility>

namespace plimsoll::cgroup {
namespace {

// Writes what is there and writable. Used for undoing what may never have been done: a file that is
// missing, a limit that another process has just put back, a group that has gone are all the same.
void try_write(const Directory& directory, const std::string& file, std::string_view text) {
  [[maybe_unused]] const auto ignored = directory.write(file, text);
}

// Each of these does its work in one directory, and says whether it is to be done below it too.

// Under a tiny quota a killed process takes seconds to get the time it needs to die.
bool lift_brakes(const Group::Part& part, const Directory& here) {
  if (here.version() == Version::v1) {
    if (!part.controllers.has(Controller::cpu)) return false;
    try_write(here, "cpu.cfs_quota_us", "-1");
    return true;
  }
  if (part.controllers.empty()) return false;
  try_write(here, "cpu.max", "max");
  try_write(here, "memory.high", "max");
  return true;
}

void forbid_forks(const Group& group) {
  for (const Group::Part& part : group.parts()) {
    if (part.controllers.has(Controller::pids)) try_write(part.directory, "pids.max", "0");
  }
}

// On v1 SIGKILL does nothing to a frozen process, whoever has frozen it.
bool thaw_v1(const Group::Part& part, const Directory& here) {
  const bool is_v1 = here.version() == Version::v1;
  if (!is_v1 || !part.controllers.has(Controller::freezer)) return false;
  [[maybe_unused]] const auto ignored = thaw(here);
  return true;
}

// Lets processes go on that sleep at a v1 memory limit whose killer is switched off.
bool raise_v1_memory_limit(const Group::Part& part, const Directory& here) {
  const bool is_v1 = here.version() == Version::v1;
  if (!is_v1 || !part.controllers.has(Controller::memory)) return false;
  try_write(here, "memory.memsw.limit_in_bytes", "-1");  // first: it may not be below the other
  try_write(here, "memory.limit_in_bytes", "-1");
  return true;
}

}  // namespace

KillStep Kill::step(const Group& group, Instant now) {
  std::size_t left = GroupWalk::kSteps;
  while (left > 0) {
    left -= std::min(left, advance(group, now));
    if (stage_ != Stage::over) continue;
    stage_ = Stage::begin;
    return std::exchange(done_, {});
  }
  return {.did = KillStep::Did::under_way, .signals = 0, .trouble = {}};
}

// Goes on with this stage, or to the next. Returns the cost, as steps of a walk.
std::size_t Kill::advance(const Group& group, Instant now) {
  switch (stage_) {
    case Stage::begin:
      stage_ = way_ == KillWay::signals_alone ? Stage::count : Stage::brakes;
      break;
    case Stage::brakes:
      if (visit_next(group, lift_brakes)) stage_ = Stage::strike;
      break;
    case Stage::strike: stage_ = strike(group); break;
    case Stage::count:
      if (!is_counted_ && !members_) members_.emplace(group, kOutrightMax + 1);
      if (members_ && members_->step()) return GroupWalk::kSteps;
      stage_ = counted(group, now);
      break;
    case Stage::freezer: stage_ = look_at_freezer(group, now); break;
    case Stage::signals:
      if (!signals_) signals_.emplace(group, SIGKILL, user_);
      if (signals_->step()) return GroupWalk::kSteps;
      stage_ = signalled(group);
      break;
    case Stage::thaw:
      if (visit_next(group, thaw_v1)) stage_ = thawed(group, now);
      break;
    case Stage::limits:
      if (visit_next(group, raise_v1_memory_limit)) stage_ = Stage::over;
      break;
    case Stage::over: break;
  }
  return 1;
}

// Takes one step of the stage's walk. Returns whether it is over.
template <class Visit>
bool Kill::visit_next(const Group& group, const Visit& visit) {
  if (!walk_) walk_.emplace(group);
  const GroupWalk::Step step = walk_->next();
  if (step == GroupWalk::Step::entered && !visit(walk_->part(), walk_->here())) {
    walk_->pass_over_part();
  }
  if (step != GroupWalk::Step::ended) return false;
  walk_.reset();
  return true;
}

// A program whose fork fails ends by itself, by another cause than the kill: so the kill comes
// first.
Kill::Stage Kill::strike(const Group& group) {
  const Directory* v2 = group.v2();
  // Missing before Linux 5.14, refused to a delegatee and in a threaded group.
  const bool is_written = way_ == KillWay::best && v2 != nullptr && v2->write("cgroup.kill", "1");
  forbid_forks(group);
  if (!is_written) return Stage::count;
  done_.did = KillStep::Did::wrote_kill;
  return Stage::thaw;
}

Kill::Stage Kill::counted(const Group& group, Instant now) {
  if (!std::exchange(is_counted_, true) && members_->pids().size() > kOutrightMax) {
    begin_freeze(group, now);
  }
  members_.reset();
  return Stage::freezer;
}

Kill::Stage Kill::look_at_freezer(const Group& group, Instant now) {
  const bool waiting = freeze_ && must_wait(group, now);
  // To ask for it may take seconds, where those that are to freeze have the CPU.
  if (waiting && !freeze_began_ && now > freeze_asked_) freeze_began_ = now;
  is_late_ = waiting && freeze_began_ && now - *freeze_began_ >= freeze_patience_;
  if (!waiting || is_late_) return Stage::signals;
  done_.did = KillStep::Did::freezing;
  return Stage::over;
}

Kill::Stage Kill::signalled(const Group& group) {
  SignalRound round = signals_->take();
  signals_.reset();
  done_.signals = round.signals;
  done_.trouble = std::move(round.trouble);
  if (done_.did == KillStep::Did::wrote_kill) return Stage::over;
  found_ = std::move(round.found);
  if (is_late_) {
    freeze_began_.reset();
    // A sleeper that the signal has woken freezes now. Children that are born now are frozen; if
    // all were let go, they would fork again.
    if (way_ != KillWay::signals_alone && !std::exchange(was_late_, true)) return Stage::limits;
    freeze_patience_ = std::min(4 * freeze_patience_, kFreezePatienceMax);
  }
  // On v2 a frozen process dies of the signal, and a child is born frozen: it stays so to the end.
  if (freeze_ && freezer_of(group)->version() == Version::v1) freeze_.reset();
  return Stage::thaw;
}

Kill::Stage Kill::thawed(const Group& group, Instant now) {
  if (done_.did == KillStep::Did::wrote_kill) {
    const auto alive = populated(group, Scope::v2_first);
    const bool is_enough = ++writes_ <= kWritesAlone && (!alive || *alive);
    return is_enough ? Stage::over : Stage::signals;
  }
  const bool all_known =
      std::includes(last_found_.begin(), last_found_.end(), found_.begin(), found_.end());
  racing_rounds_ = all_known ? 0 : racing_rounds_ + 1;
  last_found_ = std::exchange(found_, {});
  if (!freeze_ && racing_rounds_ >= kRacingRounds) begin_freeze(group, now);
  return is_late_ && way_ != KillWay::signals_alone ? Stage::limits : Stage::over;
}

bool Kill::must_wait(const Group& group, Instant now) const {
  // On v2 those that are frozen die already and no new ones come: a moment without them is enough.
  if (freezer_of(group)->version() == Version::v2 && now > freeze_asked_) return false;
  const auto state = freeze_->state();
  // Gone: there is nobody to wait for. Thawed: by somebody else, who would do so again.
  return state && *state == FreezeState::freezing;
}

void Kill::begin_freeze(const Group& group, Instant now) {
  racing_rounds_ = 0;
  auto frozen = FreezeGuard::freeze(group);
  if (!frozen) return;  // then by signals alone
  freeze_ = std::move(*frozen);
  freeze_asked_ = now;
  freeze_began_.reset();
  was_late_ = false;
}

}  // namespace plimsoll::cgroup
