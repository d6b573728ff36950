#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "kernel/procfs/table.h"

namespace plimsoll::supervisor {

// Everybody who lives on this machine, read once for all external jobs that are looked at together:
// a look costs about 10 us for each process of the machine, and there may be a thousand external
// jobs.
//
// Of one thread.
class ProcessSnapshot {
 public:
  static Result<std::shared_ptr<ProcessSnapshot>> open();

  // As it was when somebody asked for the first time at this `now`. Empty where it can't be read.
  const procfs::Table& at(Instant now);
  // As it is. For what is done once: stops and goes on.
  const procfs::Table& afresh();

  // Those of `members` that still live, and their descendants. Members stay such when their parent
  // has ended: a process is one by its parent, or by having been one at the last look. As of the
  // last look.
  [[nodiscard]] std::map<int, procfs::Stat> followed(
      const std::map<int, procfs::Stat>& members) const;

  [[nodiscard]] const procfs::ProcDir& proc() const { return proc_; }
  [[nodiscard]] std::uint64_t reads() const { return reads_; }

 private:
  explicit ProcessSnapshot(procfs::ProcDir proc) : proc_(std::move(proc)) {}

  procfs::ProcDir proc_;
  procfs::Table table_;
  std::unordered_map<int, std::vector<int>> children_;  // by the parent's number
  Instant looked_{};
  std::uint64_t reads_ = 0;
};

}  // namespace plimsoll::supervisor
