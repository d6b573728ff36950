// The files of /proc/PID, and the marks that anybody may put into an environment.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "process/mark.h"
#include "process/parse.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace process = plimsoll::process;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto stat = process::parse_stat(text);
  if (stat && stat->id.pid < 0) __builtin_trap();
  process::parse_resident(text);
  process::parse_proportional(text);
  process::parse_io(text);
  if (const auto value = process::find_variable(text, process::kMarkVariable)) {
    const auto mark = process::last_mark(*value);
    // What was understood is written as it was read.
    if (mark && process::parse_mark(process::to_text(*mark)) != mark) __builtin_trap();
  }
  return 0;
}
