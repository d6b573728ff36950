#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/units.h"

// Files of one value or one key.
namespace plimsoll::counters {

// A file that holds one number: memory.current, pids.peak, memory.failcnt. Absent for "max", which
// is the kernel's word for "no limit", and for anything that is no number.
std::optional<std::uint64_t> parse_count(std::string_view text);
std::optional<Bytes> parse_bytes(std::string_view text);

// `max` of pids.events: forks that the group's own limit refused.
std::optional<std::uint64_t> parse_pids_events(std::string_view text);

// `frozen_usec` of cgroup.stat.local: how long the group was frozen in all.
std::optional<Duration> parse_frozen_time(std::string_view text);

}  // namespace plimsoll::counters
