#include "record/human.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace plimsoll::record {
namespace {

using namespace std::chrono_literals;

constexpr int kDigits = 3;

// Three digits at least: "1.00", "12.0", "999", "1023".
std::string digits_text(double value) {
  int decimals = kDigits - 1;
  for (double next = 9.995; decimals > 0 && value >= next; next = 99.95) --decimals;
  return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace

std::string bytes_text(Bytes bytes) {
  constexpr std::array<std::string_view, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  constexpr double kStep = 1024;
  constexpr double kRoundsUp = 1023.5;
  if (bytes.count < std::uint64_t{1} << 10) return fmt::format("{} B", bytes.count);
  double value = static_cast<double>(bytes.count) / kStep;
  std::size_t unit = 0;
  for (; value >= kRoundsUp && unit + 1 < kUnits.size(); ++unit) value /= kStep;
  return fmt::format("{} {}", digits_text(value), kUnits[unit]);
}

std::string duration_text(Duration duration) {
  if (duration <= 0s) return "0 s";
  const double seconds = std::chrono::duration<double>(duration).count();
  if (duration < 999500ns) return fmt::format("{} us", digits_text(seconds * 1e6));
  if (duration < 999500us) return fmt::format("{} ms", digits_text(seconds * 1e3));
  if (duration < 59950ms) return fmt::format("{} s", digits_text(seconds));
  const auto whole = std::chrono::round<std::chrono::seconds>(duration);
  if (whole < 1h) return fmt::format("{}m {:02}s", whole / 1min, (whole % 1min).count());
  const auto minutes = std::chrono::round<std::chrono::minutes>(duration);
  return fmt::format("{}h {:02}m", minutes / 1h, (minutes % 1h).count());
}

}  // namespace plimsoll::record
