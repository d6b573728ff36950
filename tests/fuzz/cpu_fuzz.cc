#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernel/counters/cpu_files.h"

// Any text of the CPU counters of v2 and v1.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)plimsoll::counters::parse_cpu_stat_v2(text);
  (void)plimsoll::counters::parse_cpu_stat_v1(text);
  (void)plimsoll::counters::parse_cpuacct_stat(text, 100);
  (void)plimsoll::counters::parse_cpuacct_usage(text);
  return 0;
}
