#include <cstddef>
#include <cstdint>
#include <string_view>

#include "measure/machine_span.h"
#include "measure/parse_system.h"

// Any text of /proc/stat and /proc/meminfo, and what is worked out of it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  plimsoll::measure::SystemSample sample;
  plimsoll::measure::parse_proc_stat(text, 100, sample);
  sample.meminfo = plimsoll::measure::parse_meminfo(text);
  plimsoll::measure::MachineSpan span{plimsoll::measure::SystemSample{}};
  span.observe(sample);
  (void)span.usage();
  return 0;
}
