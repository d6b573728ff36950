#include "report/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/quantity.h"
#include "report/plain.h"

namespace plimsoll::report {
namespace {

using Render = std::string (*)(double value);

std::string plain(double value) { return fmt::format("{:.4g}", value); }

std::string bytes(double value) {
  constexpr double kMax = 1.8e19;  // what Bytes holds
  if (std::abs(value) >= kMax || std::isnan(value)) return plain(value);
  const std::string sign = value < 0 ? "-" : "";
  return sign + format_bytes(Bytes{static_cast<std::uint64_t>(std::abs(value))});
}

std::string bytes_per_second(double value) { return bytes(value) + "/s"; }

std::string byte_seconds(double value) { return bytes(value) + " x s"; }

std::string seconds(double value) {
  constexpr double kMax = 9e9;  // what Duration holds
  if (!(std::abs(value) < kMax)) return plain(value) + " s";
  const std::chrono::duration<double> time(std::abs(value));
  return (value < 0 ? "-" : "") + format_duration(std::chrono::duration_cast<Duration>(time));
}

std::string nanoseconds(double value) { return seconds(value / 1e9); }

std::string percent(double value) { return fmt::format("{:.3g} %", value); }

std::string share(double value) { return percent(value * 100); }

// Hundredths; a thousandth of a core more or less is nobody's concern.
std::string cores(double value) {
  std::string text = fmt::format("{:.2f}", value);
  if (text.ends_with(".00")) text.resize(text.size() - 3);
  return text;
}

struct Unit {
  std::string_view suffix;  // of a name
  Render render;
};

// The first that fits is a name's unit.
constexpr std::array<Unit, 7> kUnits = {{{"_bytes_per_s", bytes_per_second},
                                         {"_byte_s", byte_seconds},
                                         {"_bytes", bytes},
                                         {"_ns", nanoseconds},
                                         {"_s", seconds},
                                         {"_percent", percent},
                                         {"_share", share}}};

struct Known {
  std::string_view name;
  std::string_view words;
  Render render;
};

// Names without a unit, and names that say little to whoever does not know the governor.
constexpr std::array<Known, 14> kKnown = {{
    {"cores", "cores to use", cores},
    {"cores_predicted", "cores expected to be used", cores},
    {"cores_estimate", "cores it is expected to use", cores},
    {"cores_of_others", "cores that other programs use", cores},
    {"runnable", "tasks that want to run", cores},  // of runs of older versions
    {"io_full", "all waited for the disk", share},
    {"horizon_s", "looking ahead", seconds},
    {"others_then_bytes", "the others then", bytes},
    {"with_it_bytes", "with it", bytes},
    {"attempts_known", "earlier attempts known", plain},
    {"running", "running jobs", plain},
    {"unsettled", "running jobs of unknown need", plain},
    {"paused_byte_s", "paused", byte_seconds},
    {"again_byte_s", "to run it again", byte_seconds},
}};

}  // namespace

std::string number_text(std::string_view name, double value) {
  const auto* const known = std::ranges::find(kKnown, name, &Known::name);
  if (known != kKnown.end()) return fmt::format("{} {}", known->words, known->render(value));
  const auto* const unit =
      std::ranges::find_if(kUnits, [name](const Unit& one) { return name.ends_with(one.suffix); });
  Render render = plain;
  if (unit != kUnits.end()) {
    name.remove_suffix(unit->suffix.size());
    render = unit->render;
  } else if (name.starts_with("cores")) {
    render = cores;
  }
  std::string words(name);
  std::ranges::replace(words, '_', ' ');
  return fmt::format("{} {}", printable(words), render(value));
}

}  // namespace plimsoll::report
