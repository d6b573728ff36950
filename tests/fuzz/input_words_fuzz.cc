#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "supervisor/run/input_sizes.h"

// Any shell text of a job, and any text of /proc/PID/mountinfo.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)plimsoll::supervisor::words_that_may_be_inputs(
      plimsoll::policy::Command(std::string(text)));
  (void)plimsoll::supervisor::mounts_that_may_block(text);
  return 0;
}
