#include "policy/job/words.h"

#include <algorithm>
#include <cmath>

#include "base/quantity.h"

namespace plimsoll::policy::words {

std::string bytes(double bytes) { return format_bytes(to_bytes(bytes)); }

std::string decimal(double value) {
  const auto tenths = std::llround(value * 10);
  std::string text = std::to_string(tenths / 10);
  if (const auto rest = std::llabs(tenths % 10); rest != 0) text += '.' + std::to_string(rest);
  return text;
}

std::string percent(double share) { return std::to_string(std::llround(share * 100)) + " %"; }

std::string ahead(Duration horizon) {
  return horizon == Duration{} ? "now" : "in " + format_duration(horizon);
}

std::string span(Duration span) { return format_duration(span); }

}  // namespace plimsoll::policy::words
