#include "kernel/procfs/locks.h"

#include <sys/sysmacros.h>

#include <charconv>
#include <cstdint>
#include <limits>

#include "base/text.h"

namespace plimsoll::procfs {
namespace {

// Of a column with blanks after it, as many as it takes.
std::string_view take_column(std::string_view& line) {
  const std::string_view column = take_until(line, ' ');
  line = trim(line);
  return column;
}

std::optional<unsigned> to_hex(std::string_view digits) {
  constexpr int kHex = 16;
  unsigned value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [at, error] = std::from_chars(digits.data(), end, value, kHex);
  return error == std::errc() && at == end ? std::optional(value) : std::nullopt;
}

// "00:1d:2663153": the device in hexadecimal digits, the inode in decimal ones.
bool is_of(std::string_view text, const struct stat& file) {
  const auto device_major = to_hex(take_until(text, ':'));
  const auto device_minor = to_hex(take_until(text, ':'));
  const auto inode = to_u64(text);
  return device_major == major(file.st_dev) && device_minor == minor(file.st_dev) &&
         inode == std::uint64_t{file.st_ino};
}

}  // namespace

// 1: FLOCK  ADVISORY  WRITE 21382 00:1d:2663153 0 EOF
// Who waits for it has a line with "->" before the kind.
std::optional<int> flock_owner(std::string_view locks, const struct stat& file) {
  while (!locks.empty()) {
    std::string_view line = take_line(locks);
    take_column(line);  // the number of the lock
    if (take_column(line) != "FLOCK") continue;
    take_column(line);  // whether it is mandatory
    take_column(line);  // the mode
    const auto pid = to_u64(take_column(line));
    if (!pid || *pid == 0 || *pid > std::numeric_limits<int>::max()) continue;
    if (is_of(take_column(line), file)) return static_cast<int>(*pid);
  }
  return std::nullopt;
}

}  // namespace plimsoll::procfs
