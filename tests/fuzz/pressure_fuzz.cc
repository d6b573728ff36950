#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernel/counters/parse_pressure.h"

// Any text of a pressure file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)plimsoll::counters::parse_pressure(text);
  return 0;
}
