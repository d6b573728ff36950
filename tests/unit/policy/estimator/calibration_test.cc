#include "policy/estimator/calibration.h"

#include <gtest/gtest.h>

#include "policy/estimator/class_past.h"

namespace plimsoll::policy {
namespace {

using std::chrono::seconds;

constexpr Bytes mb(double count) { return {static_cast<std::uint64_t>(count * 1e6)}; }

TEST(HintTrust, TakesAWordAtItsFaceValueUntilItKnowsBetter) {
  HintTrust trust;
  EXPECT_DOUBLE_EQ(trust.expect(mb(100)).mean, 100e6);
  const double doubt = trust.expect(mb(100)).spread;
  for (int i = 0; i < 20; ++i) trust.learn(mb(100), mb(10));
  EXPECT_LT(trust.expect(mb(100)).mean, 25e6);
  EXPECT_LT(trust.expect(mb(100)).spread, doubt);
}

TEST(Calibration, CountsWhatExceededItsEstimateAndWhatWasReservedForNothing) {
  Calibration calibration;
  EXPECT_EQ(calibration.wasted(), 0);
  calibration.add({.mean = 100e6, .spread = 10e6}, mb(50), seconds(10));
  calibration.add({.mean = 100e6, .spread = 10e6}, mb(110), seconds(10));
  calibration.add({.mean = 100e6, .spread = 10e6}, mb(130), seconds(20));
  calibration.add({.mean = 100e6, .spread = 10e6}, mb(100), seconds(10));
  EXPECT_EQ(calibration.attempts(), 4U);
  EXPECT_DOUBLE_EQ(calibration.above_mean(), 0.5);
  EXPECT_DOUBLE_EQ(calibration.far_above(), 0.25);
  EXPECT_DOUBLE_EQ(calibration.wasted(), 0.1);
}

}  // namespace
}  // namespace plimsoll::policy
