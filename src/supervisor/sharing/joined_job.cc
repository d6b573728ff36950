#include "supervisor/sharing/joined_job.h"

#include <signal.h>

#include <algorithm>
#include <utility>

namespace plimsoll::supervisor {

JoinedJob::JoinedJob(Supervisor& supervisor, Ledger ledger, const policy::Share& whole,
                     const JobNeed& need)
    : supervisor_(supervisor),
      need_{.memory = std::min(need.memory, whole.line),
            .cores = std::min(need.cores, whole.cores)},
      lease_(supervisor.loop(), std::move(ledger), whole, LeaseRole::run, *this) {}

policy::RunClaim JoinedJob::claim() const {
  const bool is_young = started_ && loop::now() - started_at_ < kYoung;
  return {.memory = {.used = used_, .claimed = std::max(need_.memory, used_), .wanting = !started_},
          .starting = is_young ? need_.memory - used_ : Bytes{},
          .cores = {.used = started_ ? need_.cores : 0, .claimed = need_.cores, .wanting = false},
          .running = started_ ? 1U : 0U,
          .oldest = started_ ? std::optional(started_at_) : std::nullopt,
          .sizeable = started_ ? 1U : 0U};
}

bool JoinedJob::has_room() const {
  if (lease_.is_news()) return false;
  const policy::Share& share = lease_.share();
  return share.line - share.taken - share.told >= std::min(need_.memory, lease_.fair_line());
}

void JoinedJob::on_signal(const guardian::Signalled& signal) {
  if (signal.number == SIGTSTP) return supervisor_.stop_guardian();
  if (signal.number != SIGCONT && signal.number != SIGWINCH) ended_ = signal.number;
}

Result<std::optional<int>> JoinedJob::await_room(const std::function<void()>& waits) {
  bool has_told = false;
  supervisor_.tell_signals(this);
  Result<void> ran{};
  while (ran && !ended_ && !has_room()) {
    ran = supervisor_.run_once(Duration(-1));
    if (lease_.is_news() || has_room() || std::exchange(has_told, true)) continue;
    waits();
  }
  supervisor_.tell_signals(nullptr);
  if (!ran) return pass(std::move(ran));
  started_ = !ended_;
  started_at_ = loop::now();
  lease_.settle();
  return ended_;
}

void JoinedJob::look(const counters::Sample& sample) { used_ = sample.memory.used.value_or(used_); }

}  // namespace plimsoll::supervisor
