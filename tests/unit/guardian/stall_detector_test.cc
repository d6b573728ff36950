#include "guardian/watchdog.h"

#include <gtest/gtest.h>

#include "guardian/heartbeat.h"

namespace plimsoll::guardian {
namespace {

using std::chrono::milliseconds;

Instant at(int ms) { return Instant(milliseconds(ms)); }

TEST(StallDetector, LastsTwoHundredMilliseconds) {
  StallDetector stall_detector;
  EXPECT_FALSE(stall_detector.look(7, at(0)));
  for (int ms = 50; ms < 200; ms += 50) EXPECT_FALSE(stall_detector.look(7, at(ms))) << ms;
  EXPECT_TRUE(stall_detector.look(7, at(200)));
  EXPECT_TRUE(stall_detector.look(7, at(250)));
}

TEST(StallDetector, EndsWithABeat) {
  StallDetector stall_detector;
  for (int ms = 0; ms <= 200; ms += 50) (void)stall_detector.look(7, at(ms));
  EXPECT_FALSE(stall_detector.look(8, at(250)));
  EXPECT_FALSE(stall_detector.look(8, at(400)));
}

// Each beat comes three intervals late, on a machine whose processors are all taken.
TEST(StallDetector, BeatsThatAreLateAreNone) {
  StallDetector stall_detector;
  std::uint64_t beats = 0;
  for (int ms = 0; ms < 10'000; ms += 50) {
    if (ms % 150 == 0) ++beats;
    EXPECT_FALSE(stall_detector.look(beats, at(ms))) << ms;
  }
}

// The machine was suspended, or the guardian got no processor either: who slept is not known.
TEST(StallDetector, OneLateLookProvesNothing) {
  StallDetector stall_detector;
  EXPECT_FALSE(stall_detector.look(7, at(0)));
  EXPECT_FALSE(stall_detector.look(7, at(60'000)));
  EXPECT_FALSE(stall_detector.look(8, at(60'050)));
}

TEST(StallDetector, SeveralLateLooksDo) {
  StallDetector stall_detector;
  EXPECT_FALSE(stall_detector.look(7, at(0)));
  EXPECT_FALSE(stall_detector.look(7, at(500)));
  EXPECT_TRUE(stall_detector.look(7, at(1000)));
}

TEST(StallDetector, BeginsAnewWhenItWasForgotten) {
  StallDetector stall_detector;
  for (int ms = 0; ms <= 200; ms += 50) (void)stall_detector.look(7, at(ms));
  stall_detector.forget();
  EXPECT_FALSE(stall_detector.look(7, at(250)));
  EXPECT_FALSE(stall_detector.look(7, at(300)));
}

TEST(StallDetector, ThreeBeatsMayBeLost) { EXPECT_GE(StallDetector::kMax, 4 * kBeatInterval); }

}  // namespace
}  // namespace plimsoll::guardian
