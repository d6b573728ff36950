#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernel/cgroup/mountinfo.h"

// Any text of /proc/PID/mountinfo and /proc/PID/cgroup.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)plimsoll::cgroup::parse_mountinfo(text);
  (void)plimsoll::cgroup::parse_memberships(text);
  return 0;
}
