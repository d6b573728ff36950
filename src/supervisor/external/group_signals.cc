#include "supervisor/external/group_signals.h"

#include <algorithm>
#include <utility>

namespace plimsoll::supervisor {

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
