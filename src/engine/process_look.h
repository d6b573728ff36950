#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "process/table.h"

namespace plimsoll::engine {

// Everybody who lives on this machine, read once for all guests that are looked at together: a look
// costs about 10 us for each process of the machine, and there may be a thousand guests.
//
// Of one thread.
class ProcessLook {
 public:
  static Result<std::shared_ptr<ProcessLook>> open();

  // As it was when somebody asked for the first time at this `now`. Empty where it can't be read.
  const process::Table& at(Instant now);
  // As it is. For what is done once: stops and goes on.
  const process::Table& afresh();

  // Those of `members` that still live, and their descendants. Members stay such when their parent
  // has ended: a process is one by its parent, or by having been one at the last look. As of the
  // last look.
  [[nodiscard]] std::map<int, process::Stat> followed(
      const std::map<int, process::Stat>& members) const;

  [[nodiscard]] const process::ProcDir& proc() const { return proc_; }
  [[nodiscard]] std::uint64_t reads() const { return reads_; }

 private:
  explicit ProcessLook(process::ProcDir proc) : proc_(std::move(proc)) {}

  process::ProcDir proc_;
  process::Table table_;
  std::unordered_map<int, std::vector<int>> children_;  // by the parent's number
  Instant looked_{};
  std::uint64_t reads_ = 0;
};

}  // namespace plimsoll::engine
