#include "kernel/counters/schedule.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace plimsoll::counters {
namespace {

using namespace std::chrono_literals;

// How many samples an attempt of this length has, not counting the last look.
int samples_within(Duration length) {
  int count = 0;
  for (Duration t = sample_gap(0s); t < length; t += sample_gap(t)) ++count;
  return count;
}

static_assert(samples_dropped(Instant(10s), Instant(11s), Instant(11s)) == 0);
static_assert(samples_dropped(Instant(10s), Instant(11s), Instant(11999ms)) == 0);
static_assert(samples_dropped(Instant(10s), Instant(11s), Instant(14500ms)) == 3);
static_assert(samples_dropped(Instant(10s), Instant(10s), Instant(14s)) == 0, "asked for at once");

static_assert(sample_gap(0s) == 10ms);
static_assert(sample_gap(10ms) == 10ms);
static_assert(sample_gap(20ms) == 20ms);
static_assert(sample_gap(640ms) == 640ms);
static_assert(sample_gap(30s) == 1s);
static_assert(sample_gap(60s) == 1s);
static_assert(sample_gap(30min) == 30s);
static_assert(sample_gap(24h) == 1min);

// At rest: in 2.5 s at most, at an instant that others have too.
static_assert(rest_due(Instant(100s)) == Instant(102s + 500ms));
static_assert(rest_due(Instant(100s + 249ms)) == Instant(102s + 500ms));
static_assert(rest_due(Instant(100s + 250ms)) == Instant(102s + 750ms));

TEST(SampleGap, ShortAttemptsHaveSeveralSamplesAndLongOnesNotTooMany) {
  EXPECT_EQ(samples_within(300ms), 5);
  EXPECT_EQ(samples_within(1s), 7);
  EXPECT_NEAR(samples_within(1min), 67, 2);
  EXPECT_NEAR(samples_within(1h), 67 + 247, 5);
  EXPECT_NEAR(samples_within(24h), 67 + 247 + 23 * 60, 10);
}

RC_GTEST_PROP(SampleGap, IsBoundedAndNeverShrinksWithAge, ()) {
  const auto longest = Duration(24h * 365).count();
  const Duration younger(*rc::gen::inRange<Duration::rep>(0, longest));
  const Duration older(*rc::gen::inRange<Duration::rep>(younger.count(), longest));
  RC_ASSERT(sample_gap(younger) <= sample_gap(older));
  RC_ASSERT(sample_gap(younger) >= kSampleGapMin);
  RC_ASSERT(sample_gap(older) <= kSampleGapMax);
}

}  // namespace
}  // namespace plimsoll::counters
