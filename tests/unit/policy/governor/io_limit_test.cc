#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "governor_story.h"
#include "policy/governor/io_crowding.h"
#include "policy/governor/io_lately.h"

// What is measured of devices by how many jobs are bound by I/O, and what follows for the next.
namespace plimsoll::policy {
namespace {

constexpr double kMega = 1e6;
constexpr IoNeed kReads{.waited = 0.9, .bytes_per_second = 50 * kMega};

Estimate reader(double seconds = 600, const IoNeed& need = kReads) {
  Estimate estimate = flat({.mib = 10, .seconds = seconds, .cores = 0.05});
  estimate.io = need;
  return estimate;
}

// So many readers that start and end as a test says, and what they move together.
struct Devices {
  static constexpr double kStep = 0.1;

  void starts(const IoNeed& need = kReads) {
    readers.push_back({.job = JobId{++last}, .kind = Kind{1}});
    running_set.start(readers.back(), reader(600, need), at(t));
    started.push_back(t);
  }
  void ends() {
    running_set.leave(readers.front(), at(0));
    readers.pop_front();
    started.pop_front();
  }
  // All of them together move so much, for so long.
  void move(double bytes_per_second, double seconds, double waited = 0.95) {
    const double each = bytes_per_second / static_cast<double>(readers.size());
    for (const double end = t + seconds; t < end - kStep / 2;) {
      t += kStep;
      for (std::size_t i = 0; i < readers.size(); ++i) {
        const double ran = t - started[i];
        Member& member = *readers[i].member;
        JobSample sample{.ran = at(ran) - at(0)};
        sample.io =
            member.sample.io.value_or(Bytes{}) + Bytes{static_cast<std::uint64_t>(each * kStep)};
        sample.io_wait = at(0.9 * ran) - at(0);
        running_set.observe(member, sample, at(t));
      }
      MachineSample sample;
      sample.io = PoolIo{.waited = waited, .bytes_per_second = bytes_per_second};
      static_cast<void>(crowding.observe(sample, running_set, at(t)));
    }
  }
  void runs(std::size_t count, double bytes_per_second, double seconds = 10) {
    while (readers.size() < count) starts();
    while (readers.size() > count) ends();
    move(bytes_per_second, seconds);
  }
  [[nodiscard]] IoRoom room() const { return crowding.room(running_set, at(t)); }
  [[nodiscard]] bool holds(const Estimate& candidate = reader()) const {
    return is_held_for_io(room(), candidate);
  }
  // Whoever waits starts as soon as nobody holds him.
  void let_go(double bytes_per_second, double seconds) {
    for (const double end = t + seconds; t < end;) {
      if (!holds()) starts();
      move(bytes_per_second, 1);
    }
  }

  IoCrowding crowding;
  RunningSet running_set;
  std::deque<Ready> readers;
  std::deque<double> started;
  unsigned last = 0;
  double t = 0;
};

TEST(IoLimit, ThoseWhoMoveLittleForTheirNumberStayBound) {
  Devices slow;
  slow.runs(1, 0.8 * kMega);
  slow.runs(2, 0.8 * kMega);
  ASSERT_TRUE(slow.holds());
  slow.runs(5, 0.5 * kMega, 60);  // a tenth of a megabyte each
  EXPECT_EQ(slow.room().running, 5U);
  EXPECT_TRUE(slow.holds());
}

TEST(IoLimit, DoesNotCreepUpWhileNobodyEnds) {
  Devices devices;
  devices.let_go(50 * kMega, 20);
  EXPECT_EQ(devices.readers.size(), 2U);
  devices.let_go(50 * kMega, 600);
  EXPECT_EQ(devices.readers.size(), 3U);  // one was tried
}

TEST(IoLimit, WhatIsTriedLateAndIsOfUseEndsTheLimit) {
  Devices devices;
  devices.runs(1, 50 * kMega);
  devices.runs(2, 50 * kMega, 40);
  ASSERT_TRUE(devices.room().limit->is_stale);
  EXPECT_FALSE(devices.holds());
  devices.starts();
  EXPECT_TRUE(devices.holds());  // one at a time
  devices.move(150 * kMega, 10);
  EXPECT_FALSE(devices.room().limit);
}

TEST(IoLimit, TheNextWaveWaitsForTheMeasurementOfThisOne) {
  Devices devices;
  devices.starts();
  devices.move(50 * kMega, 3.5, 0.62);  // it takes so long until the devices are known to be busy
  EXPECT_TRUE(devices.holds());
  devices.move(50 * kMega, 1.7, 0.62);
  EXPECT_FALSE(devices.holds());
  Devices others;
  others.starts();
  others.move(50 * kMega, 3.5);  // measured
  EXPECT_FALSE(others.holds());
}

TEST(IoLimit, AGreaterNumberThatMovedMoreRefutesAHiccup) {
  Devices devices;
  devices.runs(4, 200 * kMega);
  devices.runs(1, 50 * kMega, 5);
  devices.runs(2, 50 * kMega, 5);
  EXPECT_FALSE(devices.room().limit);
  Devices without;
  without.runs(1, 50 * kMega, 5);
  without.runs(2, 50 * kMega, 5);
  EXPECT_TRUE(without.room().limit);
}

TEST(IoLimit, WhoCanMoveLittleIsNotMeasuredByWhatOthersMove) {
  Devices devices;
  devices.starts({.waited = 0.9, .bytes_per_second = 100 * kMega});
  devices.move(100 * kMega, 10);
  devices.starts({.waited = 0.9, .bytes_per_second = 20 * kMega});  // of another disk
  devices.move(120 * kMega, 10);
  EXPECT_FALSE(devices.room().limit);
}

TEST(IoLimit, OfShortOnesOneStartsBetweenTwoLooks) {
  Devices devices;
  devices.runs(1, 50 * kMega);
  devices.runs(2, 50 * kMega);
  devices.move(1 * kMega, 3, 0.05);  // the devices are free
  IoRoom room = devices.room();
  EXPECT_FALSE(is_held_for_io(room, reader(2)));
  count_in(room, reader(2));
  EXPECT_TRUE(is_held_for_io(room, reader(2)));
  EXPECT_THAT(io_reason(room), ::testing::HasSubstr("the job just started keeps"));
}

TEST(IoLately, WhoHasReadForLongAndComputesIsNotBoundForLong) {
  const Ready ready{};
  Member member{.ready = ready, .estimate = reader()};
  JobSample sample;
  const auto look = [&](double waited, double bytes, double seconds) {
    for (double t = 0; t < seconds; t += 0.5) {
      const JobSample before = sample;
      sample.ran += std::chrono::milliseconds(500);
      sample.io = before.io.value_or(Bytes{}) + Bytes{static_cast<std::uint64_t>(bytes / 2)};
      sample.io_wait = before.io_wait.value_or(Duration{}) + (at(waited / 2) - at(0));
      member.io.observe(before, sample);
    }
  };
  look(0.9, kMega, 200);
  EXPECT_TRUE(is_io_bound(member));
  look(0.9, 1000, 60);  // others push it aside
  EXPECT_TRUE(is_io_bound(member));
  look(0, 0, 8);
  EXPECT_FALSE(is_io_bound(member));
  look(0.9, kMega, 8);
  EXPECT_TRUE(is_io_bound(member));
}

TEST(IoLately, TellsNothingAtFirstNorWithoutBothCounts) {
  IoLately io;
  io.observe({},
             {.ran = std::chrono::seconds(2), .io = mib(1), .io_wait = std::chrono::seconds(2)});
  EXPECT_FALSE(io.need());
  IoLately without;
  without.observe({}, {.ran = std::chrono::seconds(5), .io = mib(1)});
  EXPECT_FALSE(without.need());
}

}  // namespace
}  // namespace plimsoll::policy
