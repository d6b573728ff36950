#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernel/counters/io_files.h"

// Any text of io.stat and of the files of blkio.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)plimsoll::counters::parse_io_stat(text);
  (void)plimsoll::counters::parse_blkio(text);
  return 0;
}
