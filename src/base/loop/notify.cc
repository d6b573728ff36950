#include "base/loop/notify.h"

#include <systemd/sd-daemon.h>

#include <cstdlib>
#include <string_view>

#include "base/text.h"

namespace plimsoll::loop {
namespace {

std::optional<std::uint64_t> number_of(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return to_u64(value);
}

}  // namespace

void notify(const std::string& state) {
  [[maybe_unused]] const int told = ::sd_notify(0, state.c_str());
}

// As sd_watchdog_enabled(3), which asks about the process that calls it.
std::optional<Duration> watchdog_interval(pid_t main) {
  const auto microseconds = number_of("WATCHDOG_USEC");
  const auto pid = number_of("WATCHDOG_PID");
  if (!microseconds || *microseconds == 0) return std::nullopt;
  if (pid && *pid != static_cast<std::uint64_t>(main)) return std::nullopt;
  return std::chrono::microseconds(*microseconds / 2);
}

}  // namespace plimsoll::loop
