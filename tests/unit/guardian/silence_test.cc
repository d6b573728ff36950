#include "guardian/silence.h"

#include <gtest/gtest.h>

#include "guardian/pulse.h"

namespace plimsoll::guardian {
namespace {

using std::chrono::milliseconds;

Instant at(int ms) { return Instant(milliseconds(ms)); }

TEST(Silence, LastsTwoHundredMilliseconds) {
  Silence silence;
  EXPECT_FALSE(silence.look(7, at(0)));
  for (int ms = 50; ms < 200; ms += 50) EXPECT_FALSE(silence.look(7, at(ms))) << ms;
  EXPECT_TRUE(silence.look(7, at(200)));
  EXPECT_TRUE(silence.look(7, at(250)));
}

TEST(Silence, EndsWithABeat) {
  Silence silence;
  for (int ms = 0; ms <= 200; ms += 50) (void)silence.look(7, at(ms));
  EXPECT_FALSE(silence.look(8, at(250)));
  EXPECT_FALSE(silence.look(8, at(400)));
}

// Each beat comes three intervals late, on a machine whose processors are all taken.
TEST(Silence, BeatsThatAreLateAreNone) {
  Silence silence;
  std::uint64_t beats = 0;
  for (int ms = 0; ms < 10'000; ms += 50) {
    if (ms % 150 == 0) ++beats;
    EXPECT_FALSE(silence.look(beats, at(ms))) << ms;
  }
}

// The machine was suspended, or the guardian got no processor either: who slept is not known.
TEST(Silence, OneLateLookProvesNothing) {
  Silence silence;
  EXPECT_FALSE(silence.look(7, at(0)));
  EXPECT_FALSE(silence.look(7, at(60'000)));
  EXPECT_FALSE(silence.look(8, at(60'050)));
}

TEST(Silence, SeveralLateLooksDo) {
  Silence silence;
  EXPECT_FALSE(silence.look(7, at(0)));
  EXPECT_FALSE(silence.look(7, at(500)));
  EXPECT_TRUE(silence.look(7, at(1000)));
}

TEST(Silence, BeginsAnewWhenItWasForgotten) {
  Silence silence;
  for (int ms = 0; ms <= 200; ms += 50) (void)silence.look(7, at(ms));
  silence.forget();
  EXPECT_FALSE(silence.look(7, at(250)));
  EXPECT_FALSE(silence.look(7, at(300)));
}

TEST(Silence, ThreeBeatsMayBeLost) { EXPECT_GE(Silence::kMax, 4 * kBeatInterval); }

}  // namespace
}  // namespace plimsoll::guardian
