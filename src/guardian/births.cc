#include "guardian/births.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

namespace plimsoll::guardian {
namespace {

// What a child that is not frozen takes at most to come to its exec, on a machine that is busy; and
// how often a stop waits for it so long.
constexpr Duration kStopLook = std::chrono::milliseconds(50);
constexpr int kStopLooks = 10;
// So many are left after a kill that spares nobody.
constexpr int kLooksAfterKill = 5;

}  // namespace

bool Births::is_for_vfork(const ReceivedSpawn& request) {
  if (!VforkSpawner::takes(request)) return false;
  if (request.v2_group && spawner_.settings().v2 == EntersV2::by_itself) return false;
  if (forked_ == kForkedFirst) {
    ++forked_;
    vfork_spawner_ = VforkSpawner::start(go_on_, patience_);
  }
  return vfork_spawner_ != nullptr && vfork_spawner_->is_ready();
}

void Births::begin(Packet packet, ReceivedSpawn request) {
  Pending pending{std::move(packet), std::move(request), {}};
  if (!is_for_vfork(pending.request)) return fork(std::move(pending));
  vforked_.emplace(std::move(pending));
  vforked_settings_ = spawner_.settings();
  vforked_settings_.memory = Memory::shared;
  vfork_spawner_->spawn(vforked_->request, vforked_settings_);
  take_vforked();
}

void Births::fork(Pending pending) {
  if (forked_ < kForkedFirst) ++forked_;
  auto child = spawner_.spawn(pending.request);
  if (!child) {
    return observer_.on_failed({pending.request.id, SpawnStep::clone, child.error().code}, 0);
  }
  pending.child = std::move(*child);
  observer_.on_begun(pending.request, pending.child.pid);
  pending_.push_back(std::move(pending));
}

// Of a newborn only the end of its report wakes: the birth alone is no news.
void Births::watch(std::vector<pollfd>& fds) const {
  for (const Pending& pending : pending_) fds.push_back({pending.child.report.get(), 0, 0});
  if (vforked_) fds.push_back({vfork_spawner_->fd(), POLLIN, 0});
}

void Births::take(std::span<const pollfd> fds) {
  const std::size_t reports = pending_.size();
  const bool is_over = fds.size() > reports && fds[reports].revents != 0;
  for (std::size_t i = reports; i-- > 0;) {
    if (fds[i].revents != 0) read_report(i);
  }
  if (is_over) take_vforked();
}

// The whole report of a newborn, which nobody writes to any more: nothing, if it was killed at
// birth; the birth byte, if the exec has happened; that and a failure.
void Births::read_report(std::size_t index) {
  std::array<char, 1 + sizeof(SpawnFailure)> bytes{};
  const ssize_t got = ::read(pending_[index].child.report.get(), bytes.data(), bytes.size());
  if (got < 0) return;
  Pending ended = std::move(pending_[index]);
  pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(index));
  if (got == static_cast<ssize_t>(bytes.size())) {
    SpawnFailure failure;
    std::memcpy(&failure, &bytes[1], sizeof failure);
    tell_failed(ended, failure);
  } else if (got == 0 && spawner_.may_try_again(ended.child.birth)) {
    withdraw(ended);
    fork(std::move(ended));
  } else {
    observer_.on_born(
        {ended.request.id, ended.child.pid, ended.child.birth, std::move(ended.child.pidfd)});
  }
}

void Births::tell_failed(const Pending& pending, const SpawnFailure& failure) {
  observer_.on_failed({pending.request.id, failure.step, static_cast<std::errc>(failure.code)},
                      pending.child.pid);
}

bool Births::tell_begun() {
  if (!vforked_ || vforked_->child.pid != 0) return true;
  vforked_->child.pid = vfork_spawner_->pid();
  if (vforked_->child.pid == 0) return false;
  observer_.on_begun(vforked_->request, vforked_->child.pid);
  return true;
}

void Births::take_vforked() {
  VforkSpawner::Outcome outcome = vfork_spawner_->take();
  Pending pending = std::move(*vforked_);
  vforked_.reset();
  if (outcome.error != std::errc{}) return fork(std::move(pending));
  const bool is_told = pending.child.pid != 0;
  const Birth birth = Birth::in_group;
  pending.child = {outcome.pid, birth, std::move(outcome.pidfd), {}};
  shared_.insert(outcome.pid);
  if (!is_told) observer_.on_begun(pending.request, pending.child.pid);
  const bool is_for_shell = outcome.failure && outcome.failure->step == SpawnStep::exec &&
                            outcome.failure->code == ENOEXEC && *pending.request.executable == '\0';
  const bool is_withdrawn = std::exchange(is_withdrawn_, false);
  if (is_withdrawn || is_for_shell || (!outcome.born && spawner_.may_try_again(birth))) {
    withdraw(pending);
    return fork(std::move(pending));
  }
  if (outcome.failure) return tell_failed(pending, *outcome.failure);
  observer_.on_born({pending.request.id, pending.child.pid, birth, std::move(pending.child.pidfd)});
}

// It is dead, or on its last instructions, and counts in its group until it is waited for.
void Births::withdraw(const Pending& pending) {
  const pid_t pid = pending.child.pid;
  if (pid == 0) return;
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED) != 0 && errno == EINTR) {
  }
  shared_.erase(pid);
  observer_.on_withdrawn(pid);
}

Memory Births::settle(pid_t pid) {
  const auto is_its = [pid](const Pending& pending) { return pending.child.pid == pid; };
  const auto found = std::ranges::find_if(pending_, is_its);
  if (found != pending_.end()) {
    read_report(static_cast<std::size_t>(found - pending_.begin()));
  } else if (vforked_ && vfork_spawner_->pid() == pid) {
    take_vforked();
  }
  return shared_.erase(pid) != 0 ? Memory::shared : Memory::own;
}

bool Births::before_stop() {
  for (int looks = 0; vforked_ && looks < kStopLooks; ++looks) {
    if (vfork_spawner_->wait(kStopLook)) {
      take_vforked();
      return true;
    }
    const auto when = looks + kLooksAfterKill < kStopLooks ? VforkSpawner::Kill::before_exec
                                                           : VforkSpawner::Kill::anyway;
    if (vfork_spawner_->kill(when)) is_withdrawn_ = true;
  }
  return !vforked_;
}

}  // namespace plimsoll::guardian
