#include "kernel/cgroup/kill.h"

#include <csignal>

#include <algorithm>
#include <utility>

#include "kernel/cgroup/processes.h"
#include "kernel/cgroup/subtree.h"

namespace plimsoll::cgroup {
namespace {

// Writes what is there and writable. Used for undoing what may never have been done: a file that is
// missing, a limit that another process has just put back, a group that has gone are all the same.
void try_write(const Directory& directory, const std::string& file, std::string_view text) {
  [[maybe_unused]] const auto ignored = directory.write(file, text);
}

template <class Visit>
void try_visit(const Directory& top, const Visit& visit) {
  [[maybe_unused]] const auto ignored = visit_subtree(top, visit);
}

// Under a tiny quota a killed process takes seconds to get the time it needs to die.
void lift_brakes(const Group& group) {
  for (const Group::Part& part : group.parts()) {
    const Directory& top = part.directory;
    const bool v1 = top.version() == Version::v1;
    if (part.controllers.has(Controller::pids)) try_write(top, "pids.max", "0");
    if (v1 && part.controllers.has(Controller::cpu)) {
      try_visit(top, [](const Directory& d) { try_write(d, "cpu.cfs_quota_us", "-1"); });
    }
    if (!v1 && !part.controllers.empty()) {
      try_visit(top, [](const Directory& d) {
        try_write(d, "cpu.max", "max");
        try_write(d, "memory.high", "max");
      });
    }
  }
}

// On v1 SIGKILL does nothing to a frozen process, whoever has frozen it.
void thaw_v1_below(const Group& group) {
  for (const Group::Part& part : group.parts()) {
    if (part.directory.version() != Version::v1) continue;
    if (!part.controllers.has(Controller::freezer)) continue;
    try_visit(part.directory,
              [](const Directory& d) { [[maybe_unused]] const auto ignored = thaw(d); });
  }
}

// Lets processes go on that sleep at a v1 memory limit whose killer is switched off.
void raise_v1_memory_limit(const Group& group) {
  const Directory* memory = group.of(Controller::memory);
  if (memory == nullptr || memory->version() != Version::v1) return;
  try_visit(*memory, [](const Directory& d) {
    try_write(d, "memory.memsw.limit_in_bytes", "-1");  // first: it may not be below the other
    try_write(d, "memory.limit_in_bytes", "-1");
  });
}

}  // namespace

KillStep Kill::step(const Group& group, Instant now) {
  if (way_ != KillWay::signals_alone) lift_brakes(group);
  const Directory* v2 = group.v2();
  if (way_ != KillWay::best || v2 == nullptr) return signal_round(group, now);

  // Missing before Linux 5.14, refused to a delegatee and in a threaded group.
  if (!v2->write("cgroup.kill", "1")) return signal_round(group, now);
  KillStep done{.did = KillStep::Did::wrote_kill, .signals = 0, .trouble = {}};
  thaw_v1_below(group);
  const auto alive = populated(group, Scope::v2_first);
  if (++writes_ > kWritesAlone || (alive && !*alive)) {
    SignalRound round = signal_all(group, SIGKILL, user_);
    done.signals = round.signals;
    done.trouble = std::move(round.trouble);
  }
  return done;
}

Kill::Round Kill::begin_round(const Group& group, Instant now) {
  if (!std::exchange(counted_, true)) {
    const auto pids = processes_below(group);
    if (pids && pids->size() > kOutrightMax) begin_freeze(group, now);
  }
  const bool waiting = freeze_ && must_wait(group, now);
  is_late_ = waiting && now - freeze_began_ >= freeze_patience_;
  if (waiting && !is_late_) return Round::waits;
  walk_ = std::make_unique<SignalWalk>(group, SIGKILL, user_);
  return Round::begun;
}

KillStep Kill::signal_round(const Group& group, Instant now) {
  if (!walk_ && begin_round(group, now) == Round::waits) {
    return {.did = KillStep::Did::freezing, .signals = 0, .trouble = {}};
  }
  while (walk_->step()) {
    if (way_ == KillWay::signals_alone) {
      return {.did = KillStep::Did::signalling, .signals = 0, .trouble = {}};
    }
  }
  SignalRound round = std::exchange(walk_, nullptr)->take();
  if (is_late_) freeze_patience_ = std::min(4 * freeze_patience_, kFreezePatienceMax);
  // On v2 a frozen process dies of the signal, and a child is born frozen: it stays so to the end.
  if (freeze_ && freezer_of(group)->version() == Version::v1) freeze_.reset();
  thaw_v1_below(group);
  if (is_late_ && way_ != KillWay::signals_alone) raise_v1_memory_limit(group);
  const bool all_known =
      std::includes(last_found_.begin(), last_found_.end(), round.found.begin(), round.found.end());
  racing_rounds_ = all_known ? 0 : racing_rounds_ + 1;
  last_found_ = std::move(round.found);
  if (!freeze_ && racing_rounds_ >= kRacingRounds) begin_freeze(group, now);
  return {.did = KillStep::Did::signalled,
          .signals = round.signals,
          .trouble = std::move(round.trouble)};
}

bool Kill::must_wait(const Group& group, Instant now) const {
  // On v2 those that are frozen die already and no new ones come: a moment without them is enough.
  if (freezer_of(group)->version() == Version::v2 && now > freeze_began_) return false;
  const auto state = freeze_->state();
  return state && *state != FreezeState::frozen;  // gone: nobody to wait for
}

void Kill::begin_freeze(const Group& group, Instant now) {
  racing_rounds_ = 0;
  auto frozen = FreezeGuard::freeze(group);
  if (!frozen) return;  // then by signals alone
  freeze_ = std::move(*frozen);
  freeze_began_ = now;
}

}  // namespace plimsoll::cgroup
