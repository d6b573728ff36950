#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernel/counters/parse_single.h"

// Any text of files with one value or one key.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)plimsoll::counters::parse_count(text);
  (void)plimsoll::counters::parse_bytes(text);
  (void)plimsoll::counters::parse_pids_events(text);
  (void)plimsoll::counters::parse_frozen_time(text);
  return 0;
}
