#pragma once

#include <optional>

#include "base/units.h"
#include "kernel/cgroup/group.h"
#include "kernel/procfs/table.h"

namespace plimsoll::supervisor {

// How much the processes of a group, and of the first groups below it, have written to file systems
// so far (/proc/PID/io): the living ones, and those that they have waited for. The kernel counts a
// page when it becomes dirty, not when it gets to the device, and knows no more of a process whose
// parent has ended before it.
class WriteMeter {
 public:
  // Looks again: some 20 us for each process and each group. Returns how many there were to read,
  // those groups included that are below.
  std::size_t look(const procfs::ProcDir& proc, const cgroup::Group& group, Instant now);
  // The most that a look has found. Absent: nothing could be read yet.
  [[nodiscard]] std::optional<Bytes> written() const { return most_; }
  // When it looked last.
  [[nodiscard]] std::optional<Instant> looked() const { return looked_; }
  [[nodiscard]] bool is_due(Instant now, Duration gap) const {
    return !looked_ || now >= *looked_ + gap;
  }

  // Of more processes, these stand for all: some milliseconds. Of groups, cgroup::kSomeGroups.
  static constexpr std::size_t kProcessesMax = 128;

 private:
  std::optional<Bytes> most_;
  std::optional<Instant> looked_;
};

}  // namespace plimsoll::supervisor
