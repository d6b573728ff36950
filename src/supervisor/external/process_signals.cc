#include "supervisor/external/process_signals.h"

#include <signal.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/may_wait.h"
#include "kernel/procfs/signals.h"

namespace plimsoll::supervisor {

void ProcessSignals::ask(const std::shared_ptr<Task>& task) {
  const std::lock_guard lock(mutex_);
  if (task->is_under_way_) {
    task->is_asked_ = true;
    return;
  }
  wait(task);
  if (!std::exchange(is_serving_, true)) worker_.submit([this] { serve(); }, [] {});
}

void ProcessSignals::wait(const std::shared_ptr<Task>& task) {
  if (!std::exchange(task->is_waiting_, true)) waiting_[task->user_].push_back(task);
}

void ProcessSignals::serve() {
  may_wait("ProcessSignals::serve");
  while (const auto task = next()) {
    const bool is_left = task->step();
    const std::lock_guard lock(mutex_);
    task->is_under_way_ = false;
    if (std::exchange(task->is_asked_, false) || is_left) wait(task);
  }
}

std::shared_ptr<ProcessSignals::Task> ProcessSignals::next() {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) {
    is_serving_ = false;
    return nullptr;
  }
  auto turn = waiting_.upper_bound(last_);
  if (turn == waiting_.end()) turn = waiting_.begin();
  last_ = turn->first;
  std::shared_ptr<Task> task = std::move(turn->second.front());
  turn->second.pop_front();
  if (turn->second.empty()) waiting_.erase(turn);
  task->is_waiting_ = false;
  task->is_under_way_ = true;
  return task;
}

void FamilySignals::set(int signal, const std::map<int, procfs::Stat>& members) {
  const std::lock_guard lock(mutex_);
  // What is on its way goes on, and death is not taken back.
  if (!left_.empty() && (signal_ == signal || signal_ == SIGKILL)) return;
  signal_ = signal;
  left_.clear();
  for (const auto& [pid, stat] : members) left_.push_back(stat);
}

bool FamilySignals::is_done() const {
  const std::lock_guard lock(mutex_);
  return left_.empty() && !is_sending_;
}

bool FamilySignals::step() {
  std::vector<procfs::Stat> targets;
  int signal = 0;
  {
    const std::lock_guard lock(mutex_);
    signal = signal_;
    const auto count = static_cast<std::ptrdiff_t>(std::min(kAtOnce, left_.size()));
    targets.assign(left_.end() - count, left_.end());
    left_.erase(left_.end() - count, left_.end());
    is_sending_ = true;
  }
  [[maybe_unused]] const auto sent = procfs::send_to(*proc_, targets, signal, user());
  const std::lock_guard lock(mutex_);
  is_sending_ = false;
  return !left_.empty();
}

GroupSignals::GroupSignals(std::shared_ptr<const cgroup::Group> group, const Peer& peer)
    : Task(peer.uid),
      group_(std::move(group)),
      rights_(peer),
      kill_(cgroup::KillWay::signals_alone, peer.uid) {}

void GroupSignals::set(int signal) {
  const std::lock_guard lock(mutex_);
  if (!signal_ && last_signal_ == signal && loop::now() < repeat_at_) return;
  signal_ = signal;
}

void GroupSignals::set_kill(Instant now) {
  const std::lock_guard lock(mutex_);
  kill_at_ = now;
}

void GroupSignals::kill_at_once(std::optional<cgroup::FreezeGuard> frozen) {
  const std::lock_guard lock(mutex_);
  frozen_ = std::move(frozen);
  is_last_ = true;
  kill_at_ = loop::now();
}

bool GroupSignals::step() {
  std::optional<Instant> kill_at;
  std::optional<int> number;
  {
    const std::lock_guard lock(mutex_);
    kill_at = kill_at_;
    number = signal_;
  }
  if (kill_at) return kill(*kill_at);
  return number && signal(*number);
}

bool GroupSignals::kill(Instant when) {
  auto did = cgroup::KillStep::Did::signalled;
  rights_.act([&] { did = kill_.step(*group_, when).did; });
  if (did == cgroup::KillStep::Did::under_way) return true;
  const std::lock_guard lock(mutex_);
  if (is_last_ && did == cgroup::KillStep::Did::freezing) {
    kill_at_ = when + cgroup::Kill::kFreezePatienceMax;  // as if that were over
    return true;
  }
  if (kill_at_ == when) kill_at_.reset();
  return kill_at_ || signal_;
}

bool GroupSignals::signal(int number) {
  const Duration before = loop::cpu_time();
  if (!walk_ || std::exchange(walks_with_, number) != number) {
    walk_.emplace(*group_, number, user());
    cost_ = {};
    walks_with_ = number;
  }
  const bool is_left = walk_->step();
  cost_ += loop::cpu_time() - before;
  if (is_left) return true;
  walk_.reset();
  const std::lock_guard lock(mutex_);
  last_signal_ = number;
  repeat_at_ = loop::now() + std::min(kCostShare * cost_, kRepeatMax);
  if (signal_ == number) signal_.reset();
  return signal_.has_value();
}

}  // namespace plimsoll::supervisor
