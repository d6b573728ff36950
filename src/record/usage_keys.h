#pragma once

#include <cstdint>
#include <optional>

#include "base/units.h"
#include "measure/usage.h"

// How the long rows of figures are called in reports: for what writes them and what reads them.
namespace plimsoll::record {

// A member of `Struct`, and its key in JSON.
template <class Struct, class Member>
struct KeyOf {
  const char* key;
  Member Struct::* member;
};

using EventKey = KeyOf<measure::MemoryEvents, std::optional<std::uint64_t>>;
inline constexpr EventKey kEventKeys[] = {
    {"low", &measure::MemoryEvents::low},
    {"high", &measure::MemoryEvents::high},
    {"max", &measure::MemoryEvents::max},
    {"oom", &measure::MemoryEvents::oom},
    {"oom_kill", &measure::MemoryEvents::oom_kill},
    {"oom_group_kill", &measure::MemoryEvents::oom_group_kill},
};

using StatSizeKey = KeyOf<measure::MemoryStat, std::optional<Bytes>>;
inline constexpr StatSizeKey kStatSizeKeys[] = {
    {"anon_bytes", &measure::MemoryStat::anon},
    {"file_bytes", &measure::MemoryStat::file},
    {"kernel_bytes", &measure::MemoryStat::kernel},
    {"kernel_stack_bytes", &measure::MemoryStat::kernel_stack},
    {"page_tables_bytes", &measure::MemoryStat::page_tables},
    {"sock_bytes", &measure::MemoryStat::sock},
    {"vmalloc_bytes", &measure::MemoryStat::vmalloc},
    {"shmem_bytes", &measure::MemoryStat::shmem},
    {"file_mapped_bytes", &measure::MemoryStat::file_mapped},
    {"file_dirty_bytes", &measure::MemoryStat::file_dirty},
    {"file_writeback_bytes", &measure::MemoryStat::file_writeback},
    {"inactive_file_bytes", &measure::MemoryStat::inactive_file},
    {"slab_bytes", &measure::MemoryStat::slab},
    {"slab_reclaimable_bytes", &measure::MemoryStat::slab_reclaimable},
};

using StatCountKey = KeyOf<measure::MemoryStat, std::optional<std::uint64_t>>;
inline constexpr StatCountKey kStatCountKeys[] = {
    {"pgscan", &measure::MemoryStat::pgscan},
    {"pgsteal", &measure::MemoryStat::pgsteal},
    {"pgfault", &measure::MemoryStat::pgfault},
    {"pgmajfault", &measure::MemoryStat::pgmajfault},
};

using CpuTimeKey = KeyOf<measure::SystemSample::Cpu, Duration>;
inline constexpr CpuTimeKey kCpuTimeKeys[] = {
    {"user_ns", &measure::SystemSample::Cpu::user},
    {"nice_ns", &measure::SystemSample::Cpu::nice},
    {"system_ns", &measure::SystemSample::Cpu::system},
    {"idle_ns", &measure::SystemSample::Cpu::idle},
    {"iowait_ns", &measure::SystemSample::Cpu::iowait},
    {"irq_ns", &measure::SystemSample::Cpu::irq},
    {"softirq_ns", &measure::SystemSample::Cpu::softirq},
    {"steal_ns", &measure::SystemSample::Cpu::steal},
    {"guest_ns", &measure::SystemSample::Cpu::guest},
    {"guest_nice_ns", &measure::SystemSample::Cpu::guest_nice},
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

}  // namespace plimsoll::record
