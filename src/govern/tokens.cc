#include "govern/tokens.h"

#include <algorithm>
#include <cmath>

namespace plimsoll::govern {

std::size_t slots_of_share(double cores, unsigned jobs_max) {
  constexpr double kAlmost = 0.1;
  const double whole =
      std::clamp(std::floor(cores + kAlmost), 1.0, static_cast<double>(Tokens::kMost));
  const auto slots = static_cast<std::size_t>(whole);
  return jobs_max > 0 ? std::min<std::size_t>(slots, jobs_max) : slots;
}

Slots slots_of(const policy::SchedulerStatus& status, std::size_t small) {
  Slots slots;
  slots.own = slots_of_share(status.cores, status.jobs_max);
  slots.running = status.running + small;
  std::size_t idle = 0;
  for (const policy::JobStatus& job : status.jobs) {
    if (job.state != policy::JobState::frozen) continue;
    if (job.paused_for == policy::PauseCause::memory) {
      slots.short_of_memory = true;
    } else if (job.paused_for == policy::PauseCause::user) {
      ++idle;  // its core is free
    }
  }
  // Of those that wait for a core none is free.
  if (status.holding) {
    const policy::HoldCause cause = status.holding->cause;
    if (cause == policy::HoldCause::memory) idle += status.waiting;
    if (cause == policy::HoldCause::calm) slots.short_of_memory = true;
  }
  slots.lent = std::min(idle, slots.own);
  return slots;
}

TokenChange Tokens::look(const Slots& slots, std::size_t free, std::optional<std::size_t> holders,
                         Instant now) {
  if (free > issued_) {  // somebody still lived who had one
    recovered_ -= std::min<std::uint64_t>(recovered_, free - issued_);
    issued_ = free;
    patience_ = std::min(2 * patience_, kPatienceMost);
  }
  find_lost(issued_ - free, holders, now);
  const std::size_t out = issued_ - free;
  const std::size_t most = std::min(slots.own + slots.lent - 1, kMost);
  TokenChange change;
  change.takes_what_comes = out > most;
  std::size_t wanted = most - std::min(out, most);
  // Some may run without a token: in implicit slots of several clients, or started by somebody who
  // knows no tokens. What has just ended still counts as running, so a free token stays as long as
  // no more run than there are cores.
  const bool is_full = slots.running > slots.own;
  if (is_full || slots.short_of_memory) wanted = 0;
  if (wanted > free) change.put = std::min(wanted - free, slots.own - slots.running);
  if (wanted < free) change.take = free - wanted;
  return change;
}

// Lost are as many as were missing all the time.
void Tokens::find_lost(std::size_t out, std::optional<std::size_t> holders, Instant now) {
  const std::size_t missing = holders && out > *holders ? out - *holders : 0;
  if (missing == 0) {
    since_.reset();
    return;
  }
  missing_ = since_ ? std::min(missing_, missing) : missing;
  if (!since_) since_ = now;
  if (now - *since_ < patience_) return;
  issued_ -= missing_;
  recovered_ += missing_;
  since_.reset();
}

void Tokens::reset() {
  issued_ = 0;
  since_.reset();
}

}  // namespace plimsoll::govern
