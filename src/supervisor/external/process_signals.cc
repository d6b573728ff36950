#include "supervisor/external/process_signals.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/may_wait.h"
#include "kernel/procfs/signals.h"

namespace plimsoll::supervisor {

class ProcessSignals::Round {
 public:
  explicit Round(std::uint32_t of_user) : user(of_user) {}

  const std::uint32_t user;
  int signal = 0;
  std::vector<procfs::Stat> left;  // the next is the last
  bool is_waiting = false;         // for its turn
  bool is_under_way = false;       // some of it are being signalled
};

ProcessSignals::ProcessSignals(const loop::Loop& loop, const procfs::ProcDir& proc)
    : proc_(proc), worker_(loop) {}

ProcessSignals::~ProcessSignals() { worker_.drain(); }

std::shared_ptr<ProcessSignals::Round> ProcessSignals::round(std::uint32_t user) {
  return std::make_shared<Round>(user);
}

void ProcessSignals::send(const std::shared_ptr<Round>& round, int signal,
                          const std::map<int, procfs::Stat>& members) {
  const std::lock_guard lock(mutex_);
  if (round->signal == signal && !round->left.empty()) return;
  round->signal = signal;
  round->left.clear();
  for (const auto& [pid, stat] : members) round->left.push_back(stat);
  if (round->left.empty() || std::exchange(round->is_waiting, true)) return;
  waiting_[round->user].push_back(round);
  if (!std::exchange(is_serving_, true)) worker_.submit([this] { serve(); }, [] {});
}

bool ProcessSignals::is_done(const Round& round) const {
  const std::lock_guard lock(mutex_);
  return round.left.empty() && !round.is_under_way;
}

void ProcessSignals::serve() {
  may_wait("ProcessSignals::serve");
  while (auto some = next()) {
    [[maybe_unused]] const auto sent =
        procfs::send_to(proc_, some->targets, some->signal, some->user);
    const std::lock_guard lock(mutex_);
    some->round->is_under_way = false;
  }
}

std::optional<ProcessSignals::Some> ProcessSignals::next() {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) {
    is_serving_ = false;
    return std::nullopt;
  }
  auto turn = waiting_.upper_bound(last_);
  if (turn == waiting_.end()) turn = waiting_.begin();
  last_ = turn->first;
  auto& rounds = turn->second;
  std::shared_ptr<Round> round = std::move(rounds.front());
  rounds.pop_front();
  const std::size_t count = std::min(kAtOnce, round->left.size());
  const auto from = round->left.end() - static_cast<std::ptrdiff_t>(count);
  Some some{.targets = {from, round->left.end()},
            .signal = round->signal,
            .user = round->user,
            .round = round};
  round->left.erase(from, round->left.end());
  round->is_under_way = true;
  round->is_waiting = !round->left.empty();
  if (round->is_waiting) rounds.push_back(std::move(round));
  if (rounds.empty()) waiting_.erase(turn);
  return some;
}

}  // namespace plimsoll::supervisor
