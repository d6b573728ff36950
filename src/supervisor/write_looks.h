#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <utility>

#include "base/units.h"
#include "policy/governor/disk_floor.h"

namespace plimsoll::supervisor {

// Whether it is to be known at once who has written how much, by the free space when that was read
// last and now: where writers are held for it, when it has changed, or is short; where it is only
// told of, when it has become short, or is no longer.
[[nodiscard]] bool asks_for_writers(const policy::DiskFloor& disk,
                                    const std::optional<Bytes>& before,
                                    const std::optional<Bytes>& free);

// Whose processes are read for what they have written, and when: whoever was looked at longest ago
// comes first, and so few processes are read at once that the loop serves others in between. Reads
// nothing itself.
class WriteLooks {
 public:
  // A job is due, whose last look was then (nothing: there was none). Asked twice, it waits once.
  void ask(JobId job, std::optional<Instant> looked) { waiting_.emplace(looked, job); }
  // The next one to be read now, which waits no longer; nothing: none is, or others are to be
  // served before.
  std::optional<JobId> next(Instant now);
  // The same of this job, which waits from now on if it is not its turn.
  bool is_next(JobId job, std::optional<Instant> looked, Instant now);
  // So many processes were read of the one that was next.
  void has_read(std::size_t processes);
  // When next() may have one; nothing: none waits.
  [[nodiscard]] std::optional<Instant> goes_on() const;
  void forget_all() { waiting_.clear(); }

  // Some 20 us each: five milliseconds of every 25. Guesses. One job's may come on top of it.
  static constexpr std::size_t kProcessesAtOnce = 256;
  static constexpr Duration kPause = std::chrono::milliseconds(25);

 private:
  [[nodiscard]] bool may_read(Instant now);

  std::set<std::pair<std::optional<Instant>, JobId>> waiting_;
  std::optional<Instant> since_;  // when left_ was whole
  std::size_t left_ = 0;          // of kProcessesAtOnce
};

}  // namespace plimsoll::supervisor
