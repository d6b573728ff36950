#include "store/history/columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::history {
namespace {

using namespace std::chrono_literals;
using namespace plimsoll::literals;
using policy::CurvePoint;

TEST(Curve, ComesBackAsItWas) {
  const std::vector<CurvePoint> curve = {
      {.at = 0ns, .used = {}}, {.at = 1500ms, .used = 3_GiB}, {.at = 1h, .used = Bytes{~0ULL}}};
  EXPECT_EQ(curve_text(curve), "0 0 1500000000 3221225472 3600000000000 18446744073709551615");
  EXPECT_EQ(parse_curve(curve_text(curve)), curve);
  EXPECT_EQ(curve_text({}), "");
  EXPECT_EQ(parse_curve(""), std::vector<CurvePoint>{});
}

TEST(Curve, OtherTextIsNone) {
  for (const char* text : {"1", "1 ", " 1 2", "1 2 3", "1  2", "-1 2", "1 -2", "1 2\n", "a b",
                           "5 1 4 1", "1 99999999999999999999", "1.5 2"}) {
    EXPECT_EQ(parse_curve(text), std::nullopt) << text;
  }
}

TEST(Curve, IsBounded) {
  std::vector<CurvePoint> curve(policy::kCurvePointsMax, CurvePoint{});
  EXPECT_EQ(parse_curve(curve_text(curve)), curve);
  curve.emplace_back();
  EXPECT_EQ(parse_curve(curve_text(curve)), std::nullopt);
}

}  // namespace
}  // namespace plimsoll::history
