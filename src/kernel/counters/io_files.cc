#include "kernel/counters/io_files.h"

#include "base/text.h"

namespace plimsoll::counters {
namespace {

void add(std::optional<Bytes>& sum, std::uint64_t count) {
  sum = sum.value_or(Bytes{}) + Bytes{count};
}

void add(std::optional<std::uint64_t>& sum, std::uint64_t count) { sum = sum.value_or(0) + count; }

using cgroup::Controller;
using cgroup::Directory;
using cgroup::Version;

// The file that counts the children too, else (before 4.13) the one that does not.
KernelFile open_recursive(const Directory& directory, const char* recursive, const char* plain,
                          const char* key) {
  if (directory.has_file(recursive)) return {directory, recursive, key};
  return {directory, plain, key};
}

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

IoFiles::IoFiles(const cgroup::Group& group) {
  const Directory* directory = group.of(Controller::io);
  if (directory == nullptr) {
    missing_ =
        "the group has no io controller: none is available, or it is blkio of cgroup v1, which on "
        "newer kernels counts only if an I/O limit is set";
  } else if (directory->version() == Version::v2) {
    stat_ = KernelFile(*directory, "io.stat", "io");
  } else {
    bytes_ = open_recursive(*directory, "blkio.throttle.io_service_bytes_recursive",
                            "blkio.throttle.io_service_bytes", "io");
    counts_ = open_recursive(*directory, "blkio.throttle.io_serviced_recursive",
                             "blkio.throttle.io_serviced", "io");
  }
}

void IoFiles::read(IoUsage& io, std::string& buffer) {
  if (const auto text = stat_.read(buffer)) {
    const auto pressure = io.pressure;
    io = parse_io_stat(*text);
    io.pressure = pressure;
  }
  const auto size = [](std::optional<std::uint64_t> count) {
    return count ? std::optional(Bytes{*count}) : std::nullopt;
  };
  if (const auto text = bytes_.read(buffer)) {
    const BlkioCounts bytes = parse_blkio(*text);
    io.read = size(bytes.read);
    io.written = size(bytes.write);
    io.discarded = size(bytes.discard);
    counted_ = counted_ || bytes.read || bytes.write;
  }
  if (const auto text = counts_.read(buffer)) {
    const BlkioCounts counts = parse_blkio(*text);
    io.read_ops = counts.read;
    io.write_ops = counts.write;
    io.discard_ops = counts.discard;
  }
}

bool IoFiles::has_failed() const {
  for (const auto* file : {&stat_, &bytes_, &counts_}) {
    if (file->has_failed()) return true;
  }
  return false;
}

void IoFiles::note(Unavailable& unavailable) const {
  if (!missing_.empty()) unavailable.insert_or_assign("io", missing_);
  if (bytes_.is_open() && !counted_) {
    unavailable.insert_or_assign(
        "io",
        "blkio lists no device for this group: there was no I/O, or no I/O limit is set on the "
        "device, without which newer kernels do not count on cgroup v1");
  }
  for (const auto* file : {&stat_, &bytes_, &counts_}) file->note(unavailable);
}

}  // namespace plimsoll::counters
