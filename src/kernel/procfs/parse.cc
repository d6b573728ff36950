#include "kernel/procfs/parse.h"

#include <array>
#include <limits>

#include "base/text.h"

namespace plimsoll::procfs {
namespace {

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
  constexpr std::size_t kLast = 22;
  std::array<std::string_view, kLast + 1> fields;
  for (std::size_t i = kState + 1; i <= kLast; ++i) fields[i] = take_until(rest, ' ');
  const auto parent = to_pid(fields[4]);
  const auto group = to_pid(fields[5]);
  const auto session = to_pid(fields[6]);
  const auto user = to_u64(fields[14]);
  const auto system = to_u64(fields[15]);
  const auto waited_user = to_u64(fields[16]);
  const auto waited_system = to_u64(fields[17]);
  const auto threads = to_u64(fields[20]);
  const auto start = to_u64(trim(fields[22]));
  if (!parent || !group || !session || !user || !system || !waited_user || !waited_system ||
      !threads || !start) {
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
  stat.id.start = *start;
  return stat;
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

}  // namespace plimsoll::procfs
