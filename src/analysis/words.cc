#include "analysis/words.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/quantity.h"
#include "report/json_text.h"

namespace plimsoll::analysis {

std::string percent_text(double share) { return fmt::format("{:.0f} %", share * kPercent); }

std::string change_text(double share) { return fmt::format("{:+.1f} %", share * kPercent); }

std::string seconds_text(double seconds) {
  return format_duration(
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds)));
}

std::string utf8(const std::string& text) {
  using report::Json;
  const std::string quoted =
      Json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return Json::parse(quoted, nullptr, false).get<std::string>();
}

double share_of_change(double log_ratio) { return std::expm1(log_ratio); }

}  // namespace plimsoll::analysis
