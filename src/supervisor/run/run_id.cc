#include "supervisor/run/run_id.h"

#include <sys/random.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>

namespace plimsoll::supervisor {

std::string new_run_id(WallTime now) {
  const auto second = std::chrono::floor<std::chrono::seconds>(now);
  const std::time_t seconds = second.time_since_epoch().count();
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  // In the order in which they began, within a second as well; and no two must be the same, as they
  // share the names of groups and files.
  constexpr std::int64_t kParts = 1 << 16;
  const auto part = static_cast<unsigned>((now - second) * kParts / std::chrono::seconds(1));
  std::uint16_t random = 0;
  [[maybe_unused]] const ssize_t got = ::getrandom(&random, sizeof random, GRND_NONBLOCK);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S-", &utc);
  std::array<char, 12> tail{};
  std::snprintf(tail.data(), tail.size(), "%04x%04x", part, static_cast<unsigned>(random));
  return std::string(text.data()) + tail.data();
}

}  // namespace plimsoll::supervisor
