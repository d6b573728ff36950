#include "policy/governor/io_crowding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "governor_story.h"

namespace plimsoll::policy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

constexpr double kMega = 1e6;

// How a device divides its time: what it moves for one, and for so many at once, bytes a second.
struct Device {
  double alone = 50 * kMega;
  double most = 50 * kMega;
  double seeks = 0;  // part of that which each one more costs
  [[nodiscard]] double moves(std::size_t readers) const {
    const auto count = static_cast<double>(readers);
    const double lost = 1 + seeks * std::max(0.0, count - 1);
    return std::min(alone * count, most) / lost;
  }
};

// Two cores, and memory for everything. Readers are ids below 100, who computes those from 100 on.
struct World : Story {
  explicit World(const Device& of, GovernorConfig config = config_of()) : Story(config) {
    device = of;
  }
  static GovernorConfig config_of() { return {.line = mib(100'000), .cores = 2, .jobs_max = 1000}; }

  static bool is_reader(unsigned id) { return id < 100; }

  // A reader that a class of its own is known for; all that compute are of one class.
  void comes(unsigned id, double work, std::optional<IoNeed> need, Tenant tenant = kHost) {
    Estimate estimate = flat({.mib = 10,
                              .seconds = is_reader(id) ? seconds : 20,  // readers are first
                              .cores = is_reader(id) ? 0.05 : 1.0});
    estimate.io = need;
    const Kind kind{is_reader(id) ? id : 100U};
    governor.expect(kind, estimate);
    left[id] = work;
    enters({.job = JobId{id}, .kind = kind, .tenant = tenant}, t);
  }
  void readers_come(unsigned count, double megabytes) {
    for (unsigned id = 1; id <= count; ++id) comes(id, megabytes * kMega, kReads);
  }
  void computers_come(unsigned count, double cpu_seconds) {
    for (unsigned id = 101; id <= 100 + count; ++id) comes(id, cpu_seconds, kComputesOnly);
  }

  [[nodiscard]] std::size_t reading() const {
    std::size_t count = 0;
    for (const auto& [id, started_at] : going) count += is_reader(id) && !dozes ? 1U : 0U;
    return count;
  }

  void decide() {
    admitted.clear();
    for (const std::string& word : rules(t)) {
      ASSERT_THAT(word, HasSubstr("admit"));
      going[number_in(word)] = t;
      admitted.push_back(number_in(word));
    }
  }

  // A tenth of a second of everybody.
  void step() {
    const double moved = device.moves(reading());
    t += kStep;
    std::set<unsigned> over;
    for (const auto& [id, started_at] : going) {
      double& mine = left[id];
      if (!is_reader(id)) {
        mine -= kStep * std::min(1.0, 2.0 / static_cast<double>(going.size() - reading()));
      } else if (!dozes) {
        mine -= kStep * moved / static_cast<double>(reading());
        io[id].first += kStep * moved / static_cast<double>(reading());
        io[id].second += kStep * 0.9;
      }
      if (mine <= 0) over.insert(id);
      look(id, started_at);
    }
    MachineSample sample;
    if (is_told)
      sample.io = PoolIo{.waited = reading() > 0 ? busy : idle, .bytes_per_second = moved};
    sample.cores_busy = cores_busy;
    samples(t, sample);
    for (const unsigned id : over) {
      going.erase(id);
      used.erase(id);
      governor.leave(job(id), {.outcome = Outcome::exited, .exit_code = 0}, at(t));
    }
    decide();
  }
  void look(unsigned id, double started_at) {
    const auto& [bytes, waited] = io[id];
    governor.observe(job(id),
                     {.ran = at(t) - at(started_at),
                      .used = mib(10),
                      .peak = mib(10),
                      .cpu = at(t) - at(started_at),
                      .io = Bytes{static_cast<std::uint64_t>(bytes)},
                      .io_wait = at(waited) - at(0)},
                     at(t));
    used[id] = 10;
  }
  void until(double then) {
    while (t < then - kStep / 2) {
      step();
      most = std::max(most, reading());
    }
  }
  // When all are done.
  double finish() {
    decide();
    while (!going.empty() || governor.waiting() > 0) {
      step();
      most = std::max(most, reading());
      if (t > 10'000) return t;
    }
    return t;
  }

  static constexpr double kStep = 0.1;
  static constexpr IoNeed kReads{.waited = 0.9, .bytes_per_second = 8 * kMega};
  static constexpr IoNeed kComputesOnly{.waited = 0.01, .bytes_per_second = 0.1 * kMega};
  Device device;
  double t = 0;
  double seconds = 60;  // that a reader is expected to take
  double busy = 0.95;   // share of time that readers wait
  double idle = 0;
  std::optional<double> cores_busy{};
  bool is_told = true;
  bool dozes = false;  // the readers do something else
  std::map<unsigned, double> going, left;
  std::map<unsigned, std::pair<double, double>> io;
  std::vector<unsigned> admitted;
  std::size_t most = 0;
};

TEST(IoCrowding, KnownReadersOfASlowDiskAreHeldWhileOthersCompute) {
  World world({});
  world.readers_come(6, 1000);
  world.computers_come(6, 100);
  world.decide();
  EXPECT_EQ(world.reading(), 1U);
  ASSERT_TRUE(world.governor.holding());
  EXPECT_EQ(world.governor.holding()->cause, HoldCause::disk);
  EXPECT_THAT(world.governor.holding()->reason,
              HasSubstr("how busy the job just started keeps the disk: 1 job bound"));
  EXPECT_GE(world.going.size(), 3U);  // others compute
  world.until(18);
  EXPECT_EQ(world.most, 2U);  // the second has shown that it is of no use
  EXPECT_THAT(world.governor.holding()->reason,
              HasSubstr("2 jobs bound by I/O moved 47.7 MiB a second together, and 1 job alone "
                        "moved 47.7 MiB"));
}

TEST(IoCrowding, ADiskThatBearsAllIsKeptBusyByAll) {
  World world({.alone = 500 * kMega, .most = 10'000 * kMega});
  world.readers_come(8, 100'000);
  world.computers_come(6, 100);
  world.decide();
  EXPECT_EQ(world.reading(), 1U);
  world.until(10);
  EXPECT_EQ(world.reading(), 8U);
}

TEST(IoCrowding, AsManyReadAsTheDiskBears) {
  World world({.alone = 100 * kMega, .most = 400 * kMega});
  world.readers_come(20, 100'000);
  world.computers_come(6, 1000);
  world.decide();
  world.until(28);
  EXPECT_GE(world.most, 4U);
  EXPECT_LE(world.most, 8U);
}

// Nothing else is there to do.
TEST(IoCrowding, WhereNobodyComputesNobodyIsHeld) {
  World world({});
  world.readers_come(6, 1000);
  world.decide();
  EXPECT_EQ(world.reading(), 6U);
}

TEST(IoCrowding, SomeoneAlwaysReads) {
  World world({});
  world.readers_come(6, 1000);
  world.computers_come(6, 1000);
  world.decide();
  world.until(15);
  ASSERT_EQ(world.reading(), 2U);
  world.left[1] = world.left[2] = 0.001;
  world.step();
  EXPECT_EQ(world.reading(), 1U);  // the next, at once
}

TEST(IoCrowding, FreeDisksAreGivenToOneMoreAtATime) {
  World world({});
  world.readers_come(6, 10'000);
  world.computers_come(6, 1000);
  world.decide();
  world.until(15);
  ASSERT_EQ(world.reading(), 2U);
  world.busy = world.idle = 0.45;  // between the marks
  world.until(20);
  EXPECT_EQ(world.reading(), 2U);
  world.dozes = true;
  world.idle = 0.05;
  world.until(23);
  EXPECT_EQ(world.going.count(3), 1U);
  EXPECT_EQ(world.going.count(4), 0U);
  world.dozes = false;
  world.busy = 0.95;
  world.until(25);  // the disk is busy again
  const std::size_t reading = world.reading();
  EXPECT_LE(reading, 4U);
  world.until(31);
  EXPECT_EQ(world.reading(), reading);
}

TEST(IoCrowding, WhatWasMeasuredIsForgottenAndTriedAgain) {
  World world({});
  world.readers_come(6, 100'000);
  world.computers_come(6, 1000);
  world.decide();
  world.until(20);
  ASSERT_EQ(world.reading(), 2U);
  world.device.most = 10'000 * kMega;  // another disk, say
  world.until(60);
  EXPECT_EQ(world.reading(), 6U);
}

TEST(IoCrowding, WhoIsNotKnownForItStarts) {
  World world({});
  world.readers_come(3, 10'000);
  world.computers_come(3, 1000);
  world.decide();
  world.until(15);
  ASSERT_EQ(world.reading(), 2U);
  world.comes(50, kMega, std::nullopt);
  // Who waits behind others and moves little does not read much.
  world.comes(51, kMega, IoNeed{.waited = 0.9, .bytes_per_second = 0.2 * kMega});
  world.comes(52, kMega, IoNeed{.waited = 0.1, .bytes_per_second = 50 * kMega});
  world.decide();
  EXPECT_THAT(world.admitted, ElementsAre(50, 51, 52));
}

// What running jobs of its kind show is known of one of which no history tells.
TEST(IoCrowding, WhatItsKindShowsIsKnownOfAJob) {
  World world({});
  world.readers_come(3, 10'000);
  world.computers_come(3, 1000);
  world.decide();
  world.until(15);
  ASSERT_EQ(world.reading(), 2U);
  world.governor.expect(Kind{60}, flat({.mib = 10, .seconds = 60, .cores = 0.05}));
  world.left[60] = 10'000 * kMega;
  world.enters({.job = JobId{60}, .kind = Kind{60}}, world.t);
  world.decide();
  EXPECT_THAT(world.admitted, ElementsAre(60));
  world.until(20);
  world.enters({.job = JobId{61}, .kind = Kind{60}}, world.t);
  world.decide();
  EXPECT_THAT(world.admitted, IsEmpty());
  EXPECT_EQ(world.governor.holding()->cause, HoldCause::disk);
}

TEST(IoCrowding, WhereNothingIsToldNobodyIsHeld) {
  World world({});
  world.is_told = false;
  world.readers_come(6, 1000);
  world.computers_come(6, 1000);
  world.decide();
  world.until(1);
  EXPECT_EQ(world.reading(), 6U);
}

TEST(IoCrowding, WhatIsNotToldAnyMoreIsForgotten) {
  World world({});
  world.readers_come(6, 10'000);
  world.computers_come(6, 1000);
  world.decide();
  world.until(15);
  ASSERT_EQ(world.reading(), 2U);
  world.is_told = false;
  world.until(17);
  EXPECT_EQ(world.reading(), 6U);
}

TEST(IoCrowding, ShortReadersDoNotWaitToBeShown) {
  World world({});
  world.seconds = 5;
  world.readers_come(6, 10);
  world.computers_come(6, 1000);
  world.decide();
  EXPECT_EQ(world.reading(), 6U);
}

// What would be held with it computes.
TEST(IoCrowding, InTheOrderOfInputNobodyIsHeld) {
  GovernorConfig config = World::config_of();
  config.order = StartOrder::input;
  World world({}, config);
  world.readers_come(6, 1000);
  world.computers_come(2, 1000);
  world.decide();
  world.until(1);
  EXPECT_EQ(world.going.size(), 8U);
}

TEST(IoCrowding, AUserDoesNotWaitForTheReadersOfAnother) {
  World world({});
  for (unsigned id = 1; id <= 6; ++id) world.comes(id, 10'000 * kMega, World::kReads, Tenant{1});
  for (unsigned id = 101; id <= 106; ++id) {
    world.comes(id, 1000, World::kComputesOnly, Tenant{1});
  }
  world.decide();
  world.until(15);
  ASSERT_EQ(world.reading(), 2U);
  world.comes(50, 10'000 * kMega, World::kReads, Tenant{2});
  world.comes(51, 10'000 * kMega, World::kReads, Tenant{2});
  world.decide();
  EXPECT_THAT(world.admitted, ElementsAre(50));
}

// What is known of the disk does not count then, either.
TEST(IoCrowding, WhereCoresWouldBeIdleNobodyIsHeld) {
  World world({});
  world.readers_come(6, 10'000);
  world.computers_come(2, 20);
  world.decide();
  world.until(15);
  ASSERT_EQ(world.reading(), 2U);
  ASSERT_EQ(world.governor.holding()->cause, HoldCause::disk);
  world.until(25);
  EXPECT_EQ(world.reading(), 6U);
}

TEST(IoCrowding, WhereCoresAreSeenIdleNobodyIsHeld) {
  World world({});
  world.readers_come(6, 10'000);
  world.computers_come(6, 1000);
  world.decide();
  world.until(15);
  ASSERT_EQ(world.reading(), 2U);
  world.cores_busy = 0.5;  // who was believed to compute waits for something else
  world.until(25);
  EXPECT_EQ(world.reading(), 6U);
}

// Who would compute if there were memory for it keeps no core at work.
TEST(IoCrowding, WhoDoesNotFitDoesNotComputeInsteadOfReaders) {
  World world({});
  world.readers_come(6, 10'000);
  for (unsigned id = 200; id < 203; ++id) {
    world.governor.expect(Kind{id}, flat({.mib = 99'990, .seconds = 20}));
    world.left[id] = 100;
    world.enters({.job = JobId{id}, .kind = Kind{id}});
  }
  world.decide();
  EXPECT_EQ(world.reading(), 6U);
}

TEST(IoCrowding, ManyWhoAreHeldHideNobodyBehindThem) {
  World world({});
  world.readers_come(90, 10'000);
  world.computers_come(2, 100);
  world.decide();
  EXPECT_EQ(world.reading(), 1U);
  EXPECT_EQ(world.going.size(), 3U);
}

// How much longer all take than where nobody is held.
double slower_by_holding(const Device& device, unsigned readers, unsigned computers,
                         double cpu_seconds) {
  double times[2] = {};
  for (const bool is_told : {false, true}) {
    World world(device);
    world.is_told = is_told;
    world.step();
    world.readers_come(readers, 200);
    world.computers_come(computers, cpu_seconds);
    times[is_told ? 1 : 0] = world.finish();
  }
  return times[1] / times[0];
}

TEST(IoCrowding, HoldingMakesNobodyLate) {
  EXPECT_LE(slower_by_holding({}, 6, 6, 8), 1.02);    // as long as the disk takes
  EXPECT_LE(slower_by_holding({}, 6, 6, 40), 1.02);   // the cores take longer
  EXPECT_LE(slower_by_holding({}, 6, 0, 0), 1.02);    // nothing else to do
  EXPECT_LE(slower_by_holding({}, 12, 2, 20), 1.02);  // not enough else
  EXPECT_LE(slower_by_holding({.alone = 10 * kMega, .most = 100 * kMega}, 6, 6, 40), 1.02);
}

TEST(IoCrowding, WhereReadersDisturbEachOtherHoldingIsQuicker) {
  EXPECT_LE(slower_by_holding({.seeks = 0.1}, 6, 6, 8), 0.9);
}

}  // namespace
}  // namespace plimsoll::policy
