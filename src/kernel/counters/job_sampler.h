#pragma once

#include <optional>

#include "base/units.h"
#include "kernel/cgroup/group.h"
#include "kernel/counters/group_files.h"
#include "kernel/counters/network.h"
#include "kernel/counters/sample_series.h"
#include "kernel/counters/usage.h"

namespace plimsoll::counters {

// memory.stat is read besides when memory.current has grown by this share since it was, so that
// what a report says of the peak was true within it; a doubling costs eight such reads at most.
inline constexpr double kStatGrowth = 1.1;
// Below this, growth is not worth a look.
inline constexpr Bytes kStatGrowthMin{1 << 20};

// Less shared memory than this is not told as left behind: the kernel counts in batches of some
// 256 KiB for each CPU, and a few small files are nobody's trouble.
inline constexpr Bytes kLeftMin{16 << 20};

// Follows one attempt from its spawn to its end and keeps a bounded record of it.
//
// Whoever decides looks as often as it likes; next_due() says when the record wants a look.
class JobSampler {
 public:
  // To be made before the group's first process. `network` must outlive this; one that counts
  // nothing is fine.
  JobSampler(const cgroup::Group& group, Instant start, Network& network)
      : JobSampler(group, GroupFiles(group), start, network) {}
  // The same of a group whose files are open.
  JobSampler(const cgroup::Group& group, GroupFiles files, Instant start, Network& network);

  // Looks now and records it.
  const Sample& sample(Instant now, WallTime wall, Level level = Level::full,
                       SampleState state = SampleState::running);

  // The last look; overwritten by the next.
  [[nodiscard]] const Sample& latest() const { return latest_; }

  // When the next sample is due, so that the record is dense at first and even later.
  [[nodiscard]] Instant next_due() const { return next_due_; }

  // Nothing in the group has run for some time (GroupFiles).
  [[nodiscard]] bool is_at_rest() const { return files_.is_at_rest(start_ + latest_.t); }

  // The group was found removed: what was read before stands.
  [[nodiscard]] bool gone() const { return files_.gone(); }

  // The last look: when all processes have ended, while the group's directories are still there.
  // Ends the counting of its network traffic. Called once, after which nothing else is.
  [[nodiscard]] JobUsage finish(Instant now, WallTime wall);

  // The files, to be used on after finish().
  [[nodiscard]] GroupFiles take_files() { return std::move(files_); }

 private:
  void remember_stat(Level level);
  void fill(Sample& sample, SampleState state, Instant now, WallTime wall) const;

  GroupFiles files_;
  std::optional<NetworkCount> network_;
  Instant start_;
  Instant next_due_;
  JobSeries series_;
  Sample latest_;
  MemoryStat stat_at_peak_;
  std::optional<Bytes> stat_peak_;  // memory.current when it was read
  Unavailable unavailable_;
};

}  // namespace plimsoll::counters
