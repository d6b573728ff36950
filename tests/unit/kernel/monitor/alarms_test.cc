// What is an alarm and what is not: bounds, stalls, events, and where thresholds belong.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/counters/parse_memory.h"
#include "kernel/monitor/alarms.h"
#include "kernel/monitor/usage_thresholds.h"

namespace plimsoll::monitor {
namespace {

using namespace std::chrono_literals;
using namespace plimsoll::literals;
using testing::Contains;
using testing::HasSubstr;
using testing::Pair;

constexpr Bounds kBounds{1000_MiB, 256_MiB};

Reading reading_of(std::optional<Bytes> used, std::optional<Bytes> available = 100_GiB) {
  return {.at = {}, .bounds = kBounds, .used = used, .available = available};
}

TEST(LevelAlarm, TellsThatTheLineIsPassed) {
  LevelAlarm level;
  EXPECT_FALSE(level.observe(reading_of(999_MiB), 0));
  const auto alarm = level.observe(reading_of(1000_MiB), 5e6);
  ASSERT_TRUE(alarm);
  EXPECT_EQ(alarm->monitor, "threshold");
  EXPECT_THAT(alarm->reason, HasSubstr("the line is 1000 MiB"));
  EXPECT_THAT(alarm->numbers, Contains(Pair("growth_bytes_per_s", 5e6)));
}

TEST(LevelAlarm, TellsOnceUntilThereWasRelief) {
  LevelAlarm level;
  EXPECT_TRUE(level.observe(reading_of(1000_MiB), 0));
  EXPECT_FALSE(level.observe(reading_of(1001_MiB), 0));
  EXPECT_FALSE(level.observe(reading_of(985_MiB), 0));  // 1.5 % below
  EXPECT_FALSE(level.observe(reading_of(1000_MiB), 0));
  EXPECT_FALSE(level.observe(reading_of(979_MiB), 0));  // 2.1 % below
  EXPECT_TRUE(level.observe(reading_of(1000_MiB), 0));
}

TEST(LevelAlarm, TellsOfTheMachineToo) {
  LevelAlarm level;
  EXPECT_FALSE(level.observe(reading_of(10_MiB, 257_MiB), 0));
  const auto alarm = level.observe(reading_of(10_MiB, 256_MiB), 0);
  ASSERT_TRUE(alarm);
  EXPECT_THAT(alarm->reason, HasSubstr("the reserve is 256 MiB"));
  EXPECT_FALSE(level.observe(reading_of(10_MiB, 200_MiB), 0));
}

TEST(LevelAlarm, UnknownIsNoAlarm) {
  LevelAlarm level;
  EXPECT_FALSE(level.observe(reading_of({}, {}), 0));
}

TEST(StallAlarm, TellsWhenStallsLast) {
  StallAlarm stalls;
  const Instant start{10s};
  EXPECT_FALSE(stalls.observe(start, 5s));  // what was before does not count
  EXPECT_FALSE(stalls.observe(start + 50ms, 5s + 20ms));
  const auto alarm = stalls.observe(start + 100ms, 5s + 40ms);
  ASSERT_TRUE(alarm);
  EXPECT_EQ(alarm->monitor, "pressure");
  EXPECT_THAT(alarm->numbers, Contains(Pair("stalled_s", testing::DoubleNear(0.04, 1e-9))));
}

TEST(StallAlarm, ShortOnesAreOrdinary) {
  StallAlarm stalls;
  const Instant start{10s};
  Duration total{};
  for (int i = 0; i < 20; ++i) {
    if (i % 2 == 0) total += 20ms;  // every other 50 ms
    EXPECT_FALSE(stalls.observe(start + i * 50ms, total)) << i;
  }
}

TEST(StallAlarm, TellsOnceUntilThereWasCalm) {
  StallAlarm stalls;
  Instant now{10s};
  Duration total{};
  int told = 0;
  const auto run = [&](int samples, Duration stall) {
    for (int i = 0; i < samples; ++i) {
      now += 100ms;
      total += stall;
      if (stalls.observe(now, total)) ++told;
    }
  };
  run(10, 50ms);
  EXPECT_EQ(told, 1);
  run(10, 7ms);  // less, but no calm
  run(10, 50ms);
  EXPECT_EQ(told, 1);
  run(2, 1ms);
  run(10, 50ms);
  EXPECT_EQ(told, 2);
}

TEST(StallAlarm, LooksTooCloseTogetherAreLeftAside) {
  StallAlarm stalls;
  const Instant start{10s};
  for (int i = 0; i < 9; ++i) {
    EXPECT_FALSE(stalls.observe(start + i * 5ms, Duration(5ms * i)));
  }
}

TEST(StallAlarm, AnotherFileStartsAnew) {
  StallAlarm stalls;
  EXPECT_FALSE(stalls.observe(Instant{10s}, 9s));
  EXPECT_FALSE(stalls.observe(Instant{11s}, 1s));
  EXPECT_FALSE(stalls.observe(Instant{12s}, 1s + 10ms));
}

struct Texts {
  const char* what;
  const char* before;
  const char* now;
  std::optional<MemoryEventsDelta> rise;
};

TEST(MemoryEventsDelta, OfTexts) {
  const Texts table[] = {
      {"nothing happened", "low 0\nhigh 3\nmax 0\noom 0\n", "low 0\nhigh 3\nmax 0\noom 0\n", {}},
      {"high", "high 3\nmax 0\noom 0\n", "high 5\nmax 0\noom 0\n", MemoryEventsDelta{.high = 2}},
      {"several", "high 3\nmax 0\noom 0\n", "high 3\nmax 7\noom 1\n",
       MemoryEventsDelta{.max = 7, .oom = 1}},
      {"others do not count", "high 1\nlow 0\noom_kill 0\n", "high 1\nlow 9\noom_kill 2\n", {}},
      {"another key that contains it", "high 1\n", "high 1\nswap_high 5\nhigh_max 2\n", {}},
      {"a key that is new", "max 0\n", "high 4\nmax 0\n", {}},
      {"a key that went away", "high 4\n", "max 0\n", {}},
      {"a count that went back", "high 4\n", "high 1\n", {}},
      {"garbage", "high 4\n", "high x\n\0\nhigh", {}},
      {"empty", "", "", {}},
  };
  for (const Texts& row : table) {
    const auto rise = rise_between(counters::parse_memory_events(row.before),
                                   counters::parse_memory_events(row.now));
    EXPECT_EQ(rise, row.rise) << row.what;
  }
}

TEST(EventAlarm, BeingThrottledIsOneNearTheLineAlone) {
  const MemoryEventsDelta rise{.high = 3};
  EXPECT_FALSE(alarm_of(rise, reading_of(100_MiB)));  // page cache
  const auto alarm = alarm_of(rise, reading_of(950_MiB));
  ASSERT_TRUE(alarm);
  EXPECT_EQ(alarm->monitor, "event");
  EXPECT_THAT(alarm->numbers, Contains(Pair("high_events", 3)));
}

TEST(EventAlarm, TheHardLimitAlwaysIs) {
  EXPECT_TRUE(alarm_of({.max = 1}, reading_of(100_MiB)));
  EXPECT_TRUE(alarm_of({.oom = 1}, reading_of({}, {})));
}

TEST(Thresholds, AreBelowAndAtTheLine) {
  Reading reading = reading_of(400_MiB);
  reading.charged = 400_MiB;
  EXPECT_EQ(thresholds_for(reading), (Thresholds{875_MiB, 1000_MiB}));
}

// The kernel compares with what is charged, clean page cache included.
TEST(Thresholds, LeaveRoomForWhatCanBeDropped) {
  Reading reading = reading_of(400_MiB);
  reading.charged = 700_MiB;
  EXPECT_EQ(thresholds_for(reading), (Thresholds{1175_MiB, 1300_MiB}));
}

TEST(Thresholds, OfAPoolThatCanNotBeReadAreUnknown) {
  EXPECT_EQ(thresholds_for(reading_of({})), std::nullopt);
  EXPECT_EQ(thresholds_for(reading_of(1_MiB)), std::nullopt);
}

TEST(Thresholds, FollowWhenTheyAreOffByMuch) {
  const Thresholds now{875_MiB, 1000_MiB};
  EXPECT_FALSE(are_misplaced(now, {890_MiB, 1015_MiB}, 1000_MiB));
  EXPECT_TRUE(are_misplaced(now, {891_MiB, 1016_MiB}, 1000_MiB));
  EXPECT_TRUE(are_misplaced(now, {859_MiB, 984_MiB}, 1000_MiB));
}

}  // namespace
}  // namespace plimsoll::monitor
