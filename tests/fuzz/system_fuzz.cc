#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernel/counters/machine_span.h"
#include "kernel/counters/system_sampler.h"

// Any text of /proc/stat and /proc/meminfo, and what is worked out of it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  plimsoll::counters::SystemSample sample;
  plimsoll::counters::parse_proc_stat(text, 100, sample);
  sample.meminfo = plimsoll::counters::parse_meminfo(text);
  plimsoll::counters::MachineSpan span{plimsoll::counters::SystemSample{}};
  span.observe(sample);
  (void)span.usage();
  return 0;
}
