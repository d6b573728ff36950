#include "kernel/counters/parse_pressure.h"

#include "base/text.h"
#include "kernel/counters/scale.h"

namespace plimsoll::counters {
namespace {

std::optional<PressureLine> parse_fields(std::string_view fields) {
  PressureLine line;
  bool has_total = false;
  while (!fields.empty()) {
    std::string_view value = take_until(fields, ' ');
    const std::string_view key = take_until(value, '=');
    if (key == "total") {
      const auto total = to_u64(value);
      if (!total) return std::nullopt;
      line.total = from_us(*total);
      has_total = true;
    } else if (key == "avg10") {
      line.avg10 = to_double(value);
    } else if (key == "avg60") {
      line.avg60 = to_double(value);
    } else if (key == "avg300") {
      line.avg300 = to_double(value);
    }
  }
  if (!has_total) return std::nullopt;
  return line;
}

}  // namespace

Pressure parse_pressure(std::string_view text) {
  Pressure pressure;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const std::string_view name = take_until(line, ' ');
    if (name == "some") pressure.some = parse_fields(line);
    if (name == "full") pressure.full = parse_fields(line);
  }
  return pressure;
}

}  // namespace plimsoll::counters
