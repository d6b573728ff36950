#pragma once

#include <string_view>

#include "base/result.h"

namespace plimsoll::cgroup {

// What cgroup.events of a v2 group says; both speak of the group and everything below it.
struct GroupEvents {
  // A process lives here. Zombies do not count. Not populated is the kernel's word that nothing
  // uses the group any more: its memory is back.
  bool populated = false;
  // Every process is parked by the freezer. True of an empty group that is asked to freeze, and it
  // stays true of a frozen group whose processes were killed.
  bool frozen = false;

  bool operator==(const GroupEvents&) const = default;
};

// Parses the text of cgroup.events (cgroup-v2, "Core Interface Files"):
//
//   populated 1
//   frozen 0
//
// Unknown keys are passed over. `populated` missing is an error; `frozen` missing means a kernel
// without the v2 freezer (before 5.2), which freezes nothing.
Result<GroupEvents> parse_cgroup_events(std::string_view text);

}  // namespace plimsoll::cgroup
