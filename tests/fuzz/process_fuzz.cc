// The files of /proc/PID, and the marks that anybody may put into an environment.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernel/procfs/membership.h"
#include "kernel/procfs/parse.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace procfs = plimsoll::procfs;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto stat = procfs::parse_stat(text);
  if (stat && stat->id.pid < 0) __builtin_trap();
  const auto status = procfs::parse_end_status(text);
  if (status && (!stat || *status < 0)) __builtin_trap();
  if (const auto pid = procfs::parse_fdinfo_pid(text); pid && *pid < 0) __builtin_trap();
  procfs::parse_resident(text);
  procfs::parse_proportional(text);
  procfs::parse_io(text);
  (void)procfs::parse_mount(text);
  (void)procfs::flock_owner(text, {});
  if (const auto value = procfs::find_variable(text, procfs::kTagVariable)) {
    const auto mark = procfs::last_mark(*value);
    // What was understood is written as it was read.
    if (mark && procfs::parse_tag(procfs::to_text(*mark)) != mark) __builtin_trap();
  }
  return 0;
}
