#include "base/loop/lag.h"

#include <gtest/gtest.h>

namespace plimsoll::loop {
namespace {

using namespace std::chrono_literals;

TEST(Lag, IsNothingBeforeAnythingWasDue) {
  const LagFigures figures = Lag().figures();
  EXPECT_EQ(figures.p50, 0ns);
  EXPECT_EQ(figures.p99, 0ns);
  EXPECT_EQ(figures.max, 0ns);
}

TEST(Lag, HasTheUsualTheRareAndTheWorst) {
  Lag lag;
  for (int i = 0; i < 97; ++i) lag.add(100us);
  lag.add(7ms);
  lag.add(7ms);
  lag.add(3s);
  const LagFigures figures = lag.figures();
  EXPECT_EQ(figures.p50, 128us);
  EXPECT_EQ(figures.p99, 8192us);
  EXPECT_EQ(figures.max, 3s);
}

TEST(Lag, NoFigureIsMoreThanTheWorst) {
  Lag lag;
  lag.add(100us);
  EXPECT_EQ(lag.figures().p99, 100us);
  lag.add(-1s);
  lag.add(24h * 365);
  EXPECT_EQ(lag.figures().max, 24h * 365);
}

}  // namespace
}  // namespace plimsoll::loop
