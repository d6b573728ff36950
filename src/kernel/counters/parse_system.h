#pragma once

#include <string_view>

#include "kernel/counters/usage.h"

// What /proc tells of the whole machine (proc(5)). Pressure: parse_pressure.h.
namespace plimsoll::counters {

// /proc/stat: CPU times, context switches and process counts go into `sample`. Ticks are made into
// time with `ticks_per_second` (sysconf(_SC_CLK_TCK)). A CPU line with fewer than the ten columns
// gives what it has; one without four is absent.
void parse_proc_stat(std::string_view text, long ticks_per_second, SystemSample& sample);

// /proc/meminfo by the kernel's names, KiB made into bytes. Only the names of kMeminfoKept: a run
// holds many of these.
std::map<std::string, Bytes> parse_meminfo(std::string_view text);

inline constexpr std::string_view kMeminfoKept[] = {
    "MemTotal",  "MemFree",  "MemAvailable", "Buffers",  "Cached",      "SwapCached",
    "Active",    "Inactive", "SwapTotal",    "SwapFree", "Dirty",       "Writeback",
    "AnonPages", "Mapped",   "Shmem",        "Slab",     "SReclaimable"};

}  // namespace plimsoll::counters
