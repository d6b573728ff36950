#include "base/quantity.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "base/text.h"

namespace plimsoll {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr double kKiB = 1024, kMiB = kKiB * 1024, kGiB = kMiB * 1024, kTiB = kGiB * 1024;
constexpr std::array kByteUnits = {Unit{"", 1},     Unit{"b", 1},    Unit{"k", kKiB},
                                   Unit{"m", kMiB}, Unit{"g", kGiB}, Unit{"t", kTiB}};
constexpr std::array kTimeUnits = {Unit{"ns", 1},     Unit{"us", 1e3},   Unit{"ms", 1e6},
                                   Unit{"", 1e9},     Unit{"s", 1e9},    Unit{"m", 60e9},
                                   Unit{"h", 3600e9}, Unit{"d", 86400e9}};

// What an int64 of bytes or nanoseconds holds; no quantity of ours is that large.
constexpr double kWholeMax = 9e18;
constexpr std::string_view kBytesMost = "8000000T", kTimeMost = "100000d";

struct Parts {
  double number = 0;
  std::string unit;  // lower case
};

std::optional<Parts> split(std::string_view text) {
  text = trim(text);
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto number = to_double(text.substr(0, end));
  if (!number) return std::nullopt;
  Parts parts{*number, std::string(trim(text.substr(end)))};
  for (char& c : parts.unit) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return parts;
}

// Nothing for an unknown unit.
template <std::size_t N>
std::optional<double> scaled(const Parts& parts, const std::array<Unit, N>& units) {
  for (const Unit& unit : units) {
    if (unit.name == parts.unit) return parts.number * unit.factor;
  }
  return std::nullopt;
}

tl::unexpected<Error> expected(std::string_view found, std::string_view form) {
  return fail("found \"" + std::string(found) + "\", expected " + std::string(form));
}

template <class... Arguments>
std::string print(const char* format, Arguments... arguments) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, arguments...);
  return text.data();
}

// Three significant digits, after rounding.
int decimals(double value) { return value < 9.995 ? 2 : value < 99.95 ? 1 : 0; }

}  // namespace

Result<Bytes> parse_bytes(std::string_view text) {
  auto parts = split(text);
  constexpr std::string_view kPrefixes = "kmgt";
  if (parts && parts->unit.size() > 1 && kPrefixes.find(parts->unit.front()) != kPrefixes.npos) {
    const std::string_view rest = std::string_view(parts->unit).substr(1);
    if (rest == "b" || rest == "ib") parts->unit.resize(1);
  }
  const auto bytes = parts ? scaled(*parts, kByteUnits) : std::nullopt;
  if (!bytes) return expected(text, "a size such as 512M, 1.5GiB or a number of bytes");
  if (*bytes > kWholeMax) return expected(text, "at most " + std::string(kBytesMost));
  return Bytes{static_cast<std::uint64_t>(std::llround(*bytes))};
}

Result<Bytes> parse_bytes_above_zero(std::string_view text) {
  auto bytes = parse_bytes(text);
  if (bytes && bytes->count == 0) return expected(text, "a size above 0, such as 512M");
  return bytes;
}

Result<Bytes> parse_bytes_or_share(std::string_view text, Bytes whole) {
  if (!trim(text).ends_with('%')) {
    auto bytes = parse_bytes(text);
    if (!bytes) return expected(text, "a size such as 512M or a share such as 80%");
    return bytes;
  }
  const auto parts = split(text);
  constexpr double kPercent = 100;
  if (!parts || parts->unit != "%" || parts->number > kPercent) {
    return expected(text, "a share from 0% to 100%");
  }
  return Bytes{static_cast<std::uint64_t>(to_double(whole) * parts->number / kPercent)};
}

Result<Duration> parse_duration(std::string_view text) {
  const auto parts = split(text);
  const auto ns = parts ? scaled(*parts, kTimeUnits) : std::nullopt;
  if (!ns) return expected(text, "a duration such as 250ms, 10s, 5m, 1h or a number of seconds");
  if (*ns > kWholeMax) return expected(text, "at most " + std::string(kTimeMost));
  return Duration(static_cast<Duration::rep>(std::llround(*ns)));
}

Result<Duration> parse_duration_above_zero(std::string_view text) {
  auto duration = parse_duration(text);
  if (duration && *duration == Duration::zero()) {
    return expected(text, "a duration above 0, such as 10s");
  }
  return duration;
}

std::string format_bytes(Bytes bytes) {
  constexpr double kRoundsUp = 1023.5;  // from here on it would print as 1024
  double value = to_double(bytes);
  if (value < kKiB) return print("%.0f B", value);
  for (const char* unit : {"KiB", "MiB", "GiB"}) {
    value /= kKiB;
    if (value < kRoundsUp) return print("%.*f %s", decimals(value), value, unit);
  }
  value /= kKiB;
  return print("%.*f TiB", decimals(value), value);
}

std::string format_duration(Duration duration) {
  constexpr double kSecond = 0.9995, kMinute = 59.95;  // from here on they would print as 1000, 60
  const double seconds = to_seconds(duration);
  if (seconds < kSecond) return print("%.*f ms", decimals(seconds * 1e3), seconds * 1e3);
  if (seconds < kMinute) return print("%.*f s", decimals(seconds), seconds);
  const auto whole = std::chrono::round<std::chrono::seconds>(duration).count();
  if (whole < 3600) {
    return print("%lldm%02llds", static_cast<long long>(whole / 60),
                 static_cast<long long>(whole % 60));
  }
  const auto minutes = whole / 60;
  return print("%lldh%02lldm", static_cast<long long>(minutes / 60),
               static_cast<long long>(minutes % 60));
}

}  // namespace plimsoll
