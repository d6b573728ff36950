#include "kernel/cgroup/events.h"

#include <optional>

#include "base/text.h"

namespace plimsoll::cgroup {

Result<GroupEvents> parse_cgroup_events(std::string_view text) {
  std::optional<bool> populated;
  GroupEvents events;
  while (const auto line = take_keyed_number(text)) {
    if (line->value > 1) continue;
    if (line->key == "populated") populated = line->value == 1;
    if (line->key == "frozen") events.frozen = line->value == 1;
  }
  if (!populated) return fail(std::errc::invalid_argument, "find populated in cgroup.events");
  events.populated = *populated;
  return events;
}

}  // namespace plimsoll::cgroup
