#pragma once

#include <cstdint>
#include <optional>

#include "base/units.h"
#include "kernel/counters/usage.h"

// How the long rows of figures are called in reports: for what writes them and what reads them.
namespace plimsoll::report {

// A member of `Struct`, and its key in JSON.
template <class Struct, class Member>
struct KeyOf {
  const char* key;
  Member Struct::* member;
};

using EventKey = KeyOf<counters::MemoryEvents, std::optional<std::uint64_t>>;
inline constexpr EventKey kEventKeys[] = {
    {"low", &counters::MemoryEvents::low},
    {"high", &counters::MemoryEvents::high},
    {"max", &counters::MemoryEvents::max},
    {"oom", &counters::MemoryEvents::oom},
    {"oom_kill", &counters::MemoryEvents::oom_kill},
    {"oom_group_kill", &counters::MemoryEvents::oom_group_kill},
};

using StatSizeKey = KeyOf<counters::MemoryStat, std::optional<Bytes>>;
inline constexpr StatSizeKey kStatSizeKeys[] = {
    {"anon_bytes", &counters::MemoryStat::anon},
    {"file_bytes", &counters::MemoryStat::file},
    {"kernel_bytes", &counters::MemoryStat::kernel},
    {"kernel_stack_bytes", &counters::MemoryStat::kernel_stack},
    {"page_tables_bytes", &counters::MemoryStat::page_tables},
    {"sock_bytes", &counters::MemoryStat::sock},
    {"vmalloc_bytes", &counters::MemoryStat::vmalloc},
    {"shmem_bytes", &counters::MemoryStat::shmem},
    {"file_mapped_bytes", &counters::MemoryStat::file_mapped},
    {"file_dirty_bytes", &counters::MemoryStat::file_dirty},
    {"file_writeback_bytes", &counters::MemoryStat::file_writeback},
    {"inactive_file_bytes", &counters::MemoryStat::inactive_file},
    {"slab_bytes", &counters::MemoryStat::slab},
    {"slab_reclaimable_bytes", &counters::MemoryStat::slab_reclaimable},
};

using StatCountKey = KeyOf<counters::MemoryStat, std::optional<std::uint64_t>>;
inline constexpr StatCountKey kStatCountKeys[] = {
    {"pgscan", &counters::MemoryStat::pgscan},
    {"pgsteal", &counters::MemoryStat::pgsteal},
    {"pgfault", &counters::MemoryStat::pgfault},
    {"pgmajfault", &counters::MemoryStat::pgmajfault},
};

using CpuTimeKey = KeyOf<counters::SystemSample::Cpu, Duration>;
inline constexpr CpuTimeKey kCpuTimeKeys[] = {
    {"user_ns", &counters::SystemSample::Cpu::user},
    {"nice_ns", &counters::SystemSample::Cpu::nice},
    {"system_ns", &counters::SystemSample::Cpu::system},
    {"idle_ns", &counters::SystemSample::Cpu::idle},
    {"iowait_ns", &counters::SystemSample::Cpu::iowait},
    {"irq_ns", &counters::SystemSample::Cpu::irq},
    {"softirq_ns", &counters::SystemSample::Cpu::softirq},
    {"steal_ns", &counters::SystemSample::Cpu::steal},
    {"guest_ns", &counters::SystemSample::Cpu::guest},
    {"guest_nice_ns", &counters::SystemSample::Cpu::guest_nice},
};

// Of /proc/meminfo: the kernel's name, and ours.
struct MeminfoKey {
  const char* kernel_name;
  const char* key;
};
inline constexpr MeminfoKey kMeminfoKeys[] = {
    {"MemTotal", "total_bytes"},         {"MemFree", "free_bytes"},
    {"MemAvailable", "available_bytes"}, {"Buffers", "buffers_bytes"},
    {"Cached", "cached_bytes"},          {"Active", "active_bytes"},
    {"Inactive", "inactive_bytes"},      {"SwapTotal", "swap_total_bytes"},
    {"SwapFree", "swap_free_bytes"},     {"Dirty", "dirty_bytes"},
    {"Writeback", "writeback_bytes"},    {"Slab", "slab_bytes"},
};

}  // namespace plimsoll::report
