#include "store/history/curve.h"

#include "base/text.h"

namespace plimsoll::history {

std::string curve_text(const std::vector<policy::CurvePoint>& curve) {
  std::string text;
  for (const policy::CurvePoint& point : curve) {
    if (!text.empty()) text += ' ';
    text += std::to_string(point.at.count()) + ' ' + std::to_string(point.used.count);
  }
  return text;
}

std::optional<std::vector<policy::CurvePoint>> parse_curve(std::string_view text) {
  std::vector<policy::CurvePoint> curve;
  while (!text.empty()) {
    const auto at = to_i64(take_until(text, ' '));
    const auto used = to_u64(take_until(text, ' '));
    if (!at || *at < 0 || !used || curve.size() == policy::kCurvePointsMax) return std::nullopt;
    if (!curve.empty() && Duration(*at) < curve.back().at) return std::nullopt;
    curve.push_back({.at = Duration(*at), .used = Bytes{*used}});
  }
  return curve;
}

}  // namespace plimsoll::history
