#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernel/counters/parse_memory.h"

// Any text of the memory counters of v2 and v1.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)plimsoll::counters::used_of(plimsoll::counters::parse_memory_stat_v2(text));
  (void)plimsoll::counters::used_of(plimsoll::counters::parse_memory_stat_v1(text).stat);
  (void)plimsoll::counters::parse_memory_events(text);
  (void)plimsoll::counters::parse_oom_control(text);
  (void)plimsoll::counters::parse_limit_v1(text);
  return 0;
}
