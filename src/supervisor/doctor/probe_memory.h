#pragma once

#include <string_view>
#include <vector>

#include "base/units.h"
#include "kernel/cgroup/group.h"
#include "supervisor/doctor/doctor.h"

namespace plimsoll::supervisor {

// Tries the memory controller on an empty group of ours: `memory.high`, `memory.peak`,
// `memory.events`, `memory.oom_group`, `memory.reclaim`, `memory.swap_limit`. Its limits are as
// before afterwards.
std::vector<report::Check> probe_memory(const cgroup::Group& group);

// The areas of swap that a text of /proc/swaps lists (proc(5)); lines of another form are passed
// over.
struct SwapArea {
  std::string name;
  Bytes size;
  bool operator==(const SwapArea&) const = default;
};
std::vector<SwapArea> parse_swaps(std::string_view text);
report::Check judge_swap(const std::vector<SwapArea>& areas);

// `swap`, from /proc/swaps.
report::Check probe_swap();

}  // namespace plimsoll::supervisor
