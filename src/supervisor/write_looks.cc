#include "supervisor/write_looks.h"

#include <algorithm>

#include "policy/governor/writing.h"

namespace plimsoll::supervisor {

bool asks_for_writers(const policy::DiskFloor& disk, const std::optional<Bytes>& before,
                      const std::optional<Bytes>& free) {
  if (!free) return false;
  const bool is_short = *free < disk.floor;
  if (!before) return is_short;
  if (disk.rule == policy::DiskRule::tell) return is_short != (*before < disk.floor);
  const Bytes changed = std::max(*before, *free) - std::min(*before, *free);
  return is_short || to_double(changed) >= policy::kWritesLeast;
}

bool WriteLooks::may_read(Instant now) {
  if (!since_ || now >= *since_ + kPause) {
    since_ = now;
    left_ = kProcessesAtOnce;
  }
  return left_ > 0;
}

std::optional<JobId> WriteLooks::next(Instant now) {
  if (waiting_.empty() || !may_read(now)) return std::nullopt;
  return waiting_.extract(waiting_.begin()).value().second;
}

bool WriteLooks::is_next(JobId job, std::optional<Instant> looked, Instant now) {
  ask(job, looked);
  if (waiting_.begin()->second != job || !may_read(now)) return false;
  waiting_.erase(waiting_.begin());
  return true;
}

// To list them costs as much as one of them.
void WriteLooks::has_read(std::size_t processes) { left_ -= std::min(left_, processes + 1); }

std::optional<Instant> WriteLooks::goes_on() const {
  if (waiting_.empty()) return std::nullopt;
  return since_.value_or(Instant{}) + kPause;
}

}  // namespace plimsoll::supervisor
