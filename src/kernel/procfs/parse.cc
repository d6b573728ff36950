#include "kernel/procfs/parse.h"

#include <sys/sysmacros.h>

#include <array>
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

bool is_octal(char c) { return c >= '0' && c <= '7'; }

// The kernel writes space, tab, newline and backslash of a path as \ooo.
std::string unescape_octal(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
        is_octal(text[i + 3])) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::optional<int> to_pid(std::string_view digits) {
  const auto number = to_i64(digits);
  if (!number || *number < 0 || *number > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(*number);
}

// "   1234 kB", as status and smaps have sizes.
std::optional<Bytes> to_size(std::string_view value) {
  value = trim(value);
  const auto number = to_u64(take_until(value, ' '));
  if (!number || trim(value) != "kB" ||
      *number > (std::numeric_limits<std::uint64_t>::max() >> 10)) {
    return std::nullopt;
  }
  return Bytes{*number << 10};
}

}  // namespace

std::optional<Stat> parse_stat(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return std::nullopt;
  }
  Stat stat;
  const auto pid = to_pid(trim(text.substr(0, open)));
  stat.comm = std::string(text.substr(open + 1, close - open - 1));
  std::string_view rest = trim(text.substr(close + 1));
  const std::string_view state = take_until(rest, ' ');
  if (!pid || state.size() != 1) return std::nullopt;
  stat.id.pid = *pid;
  stat.state = state.front();

  // The fields after the state, counted from its own number: parent is the next.
  constexpr std::size_t kState = 3;
  constexpr std::size_t kLast = 28;
  std::array<std::string_view, kLast + 1> fields;
  for (std::size_t i = kState + 1; i <= kLast; ++i) fields[i] = take_until(rest, ' ');
  const auto parent = to_pid(fields[4]);
  const auto group = to_pid(fields[5]);
  const auto session = to_pid(fields[6]);
  const auto flags = to_u64(fields[9]);
  const auto user = to_u64(fields[14]);
  const auto system = to_u64(fields[15]);
  const auto waited_user = to_u64(fields[16]);
  const auto waited_system = to_u64(fields[17]);
  const auto threads = to_u64(fields[20]);
  const auto start = to_u64(trim(fields[22]));
  if (!parent || !group || !session || !flags || !user || !system || !waited_user ||
      !waited_system || !threads || !start) {
    return std::nullopt;
  }
  stat.parent = *parent;
  stat.group = *group;
  stat.session = *session;
  stat.user_ticks = *user;
  stat.system_ticks = *system;
  stat.waited_user_ticks = *waited_user;
  stat.waited_system_ticks = *waited_system;
  stat.threads = *threads;
  constexpr std::uint64_t kForkedNotExecuted = 0x40;
  stat.is_copy = (*flags & kForkedNotExecuted) != 0;
  stat.id.start = *start;
  stat.code_end = to_u64(trim(fields[27])).value_or(0);
  stat.stack = to_u64(trim(fields[28])).value_or(0);
  return stat;
}

std::optional<int> parse_end_status(std::string_view stat) {
  const auto basics = parse_stat(stat);
  if (!basics || !basics->is_dead()) return std::nullopt;
  constexpr int kName = 2;
  constexpr int kStatus = 52;
  std::string_view rest = trim(stat.substr(stat.rfind(')') + 1));
  std::string_view field;
  for (int i = kName; i < kStatus; ++i) field = take_until(rest, ' ');
  const auto status = to_u64(trim(field));
  constexpr std::uint64_t kMax = 0xffff;
  return status && *status <= kMax ? std::optional(static_cast<int>(*status)) : std::nullopt;
}

std::optional<int> parse_fdinfo_pid(std::string_view text) {
  while (!text.empty()) {
    std::string_view value = take_line(text);
    if (take_until(value, ':') == "Pid") return to_pid(trim(value));
  }
  return std::nullopt;
}

std::optional<Uids> parse_uids(std::string_view status) {
  while (!status.empty()) {
    std::string_view values = take_line(status);
    if (take_until(values, ':') != "Uid") continue;
    values = trim(values);
    const auto next = [&values] {
      const auto number = to_u64(take_until(values, '\t'));
      return number && *number <= UINT32_MAX ? number : std::nullopt;
    };
    const auto real = next(), effective = next(), saved = next();
    if (!real || !effective || !saved) return std::nullopt;
    return Uids{.real = static_cast<std::uint32_t>(*real),
                .effective = static_cast<std::uint32_t>(*effective),
                .saved = static_cast<std::uint32_t>(*saved)};
  }
  return std::nullopt;
}

bool may_signal(std::uint32_t user, const Uids& target) {
  return user == 0 || user == target.real || user == target.saved;
}

Resident parse_resident(std::string_view status) {
  Resident resident;
  while (!status.empty()) {
    std::string_view value = take_line(status);
    const std::string_view key = take_until(value, ':');
    if (key == "RssAnon") resident.anon = to_size(value);
    if (key == "RssFile") resident.file = to_size(value);
    if (key == "RssShmem") resident.shmem = to_size(value);
    if (key == "VmSwap") resident.swap = to_size(value);
  }
  return resident;
}

std::optional<Bytes> parse_proportional(std::string_view smaps_rollup) {
  std::optional<Bytes> anon;
  std::optional<Bytes> shmem;
  while (!smaps_rollup.empty()) {
    std::string_view value = take_line(smaps_rollup);
    const std::string_view key = take_until(value, ':');
    if (key == "Pss_Anon") anon = to_size(value);
    if (key == "Pss_Shmem") shmem = to_size(value);
  }
  if (!anon || !shmem) return std::nullopt;
  return *anon + *shmem;
}

std::optional<Traffic> parse_io(std::string_view text) {
  std::optional<std::uint64_t> read;
  std::optional<std::uint64_t> written;
  while (!text.empty()) {
    std::string_view value = take_line(text);
    const std::string_view key = take_until(value, ':');
    if (key == "read_bytes") read = to_u64(trim(value));
    if (key == "write_bytes") written = to_u64(trim(value));
  }
  if (!read || !written) return std::nullopt;
  return Traffic{.read = {*read}, .written = {*written}};
}

std::optional<std::string_view> find_variable(std::string_view environ, std::string_view name) {
  while (!environ.empty()) {
    const std::string_view entry = take_until(environ, '\0');
    if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name)) {
      return entry.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

// 36 35 98:0 /root /mount/point rw,noatime master:1 - ext4 /dev/sda1 rw
std::optional<Mount> parse_mount(std::string_view line) {
  constexpr std::string_view kDash = " - ";
  constexpr int kBeforeRoot = 3;  // fields
  const std::size_t dash = line.find(kDash);
  if (dash == std::string_view::npos) return std::nullopt;
  std::string_view head = line.substr(0, dash);
  std::string_view tail = line.substr(dash + kDash.size());
  for (int skipped = 0; skipped < kBeforeRoot; ++skipped) take_until(head, ' ');

  Mount mount;
  mount.root = unescape_octal(take_until(head, ' '));
  mount.mount_point = unescape_octal(take_until(head, ' '));
  mount.options = take_until(head, ' ');
  mount.type = take_until(tail, ' ');
  take_until(tail, ' ');  // source
  mount.super_options = tail;
  if (mount.root.empty() || mount.mount_point.empty()) return std::nullopt;
  return mount;
}

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
