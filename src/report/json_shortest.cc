#include "report/json_shortest.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>

namespace plimsoll::report {
namespace {

constexpr std::size_t kStep = 2;  // columns of a level
constexpr double kFixedMin = 1e-6;
constexpr double kFixedMax = 1e21;
// 21 digits before the point, or 17 of a fraction behind its zeros.
constexpr std::size_t kNumberMax = 64;

std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Opens a line of `depth`, after a comma for all but the first of a list.
void begin_line(std::string& out, std::size_t depth, std::size_t index) {
  out += index == 0 ? "\n" : ",\n";
  out.append(depth * kStep, ' ');
}

// Depth is that of our own documents: a handful.
void append_shortest(std::string& out, const Json& json, std::size_t depth) {
  if (json.is_number_float()) {
    out += shortest(json.get<double>());
    return;
  }
  if (!json.is_structured() || json.empty()) {
    out += json.dump(-1, ' ', false, Json::error_handler_t::replace);
    return;
  }
  out += json.is_object() ? '{' : '[';
  std::size_t index = 0;
  for (const auto& [key, value] : json.items()) {
    begin_line(out, depth + 1, index++);
    if (json.is_object()) out += quoted(key) + ": ";
    append_shortest(out, value, depth + 1);
  }
  begin_line(out, depth, 0);
  out += json.is_object() ? '}' : ']';
}

}  // namespace

std::string shortest(double number) {
  if (!std::isfinite(number)) return "null";
  if (number == 0) return "0";  // whatever its sign
  const double size = std::abs(number);
  const auto format = size >= kFixedMin && size < kFixedMax ? std::chars_format::fixed
                                                            : std::chars_format::scientific;
  std::array<char, kNumberMax> room{};
  const auto end = std::to_chars(room.data(), room.data() + room.size(), number, format).ptr;
  std::string text(room.data(), end);
  // C writes at least two digits of an exponent.
  if (const std::size_t padded = text.find("e-0"); padded != std::string::npos) {
    text.erase(padded + 2, 1);
  }
  return text;
}

std::string shortest_text_of(const Json& json) {
  std::string out;
  append_shortest(out, json, 0);
  return out + '\n';
}

}  // namespace plimsoll::report
