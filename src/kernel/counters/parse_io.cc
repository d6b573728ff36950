#include "kernel/counters/parse_io.h"

#include "base/text.h"

namespace plimsoll::counters {
namespace {

void add(std::optional<Bytes>& sum, std::uint64_t count) {
  sum = sum.value_or(Bytes{}) + Bytes{count};
}

void add(std::optional<std::uint64_t>& sum, std::uint64_t count) { sum = sum.value_or(0) + count; }

}  // namespace

IoUsage parse_io_stat(std::string_view text) {
  IoUsage io;
  if (trim(text).empty()) {
    io.read = io.written = io.discarded = Bytes{};
    io.read_ops = io.write_ops = io.discard_ops = 0;
    return io;
  }
  while (!text.empty()) {
    std::string_view line = take_line(text);
    take_until(line, ' ');
    while (!line.empty()) {
      std::string_view value = take_until(line, ' ');
      const std::string_view key = take_until(value, '=');
      const auto count = to_u64(value);
      if (!count) continue;
      if (key == "rbytes") add(io.read, *count);
      if (key == "wbytes") add(io.written, *count);
      if (key == "dbytes") add(io.discarded, *count);
      if (key == "rios") add(io.read_ops, *count);
      if (key == "wios") add(io.write_ops, *count);
      if (key == "dios") add(io.discard_ops, *count);
    }
  }
  return io;
}

BlkioCounts parse_blkio(std::string_view text) {
  BlkioCounts counts;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    take_until(line, ' ');
    const std::string_view operation = take_until(line, ' ');
    const auto count = to_u64(line);
    if (!count) continue;
    if (operation == "Read") add(counts.read, *count);
    if (operation == "Write") add(counts.write, *count);
    if (operation == "Discard") add(counts.discard, *count);
  }
  return counts;
}

}  // namespace plimsoll::counters
