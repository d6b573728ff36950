// What is believed of a command that has run before, of one like it with other numbers, and of one
// that has limits of its own.
#include <gtest/gtest.h>

#include "policy/estimator/estimator.h"
#include "policy/estimator/numbers.h"

namespace plimsoll::policy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr double kMib = 1 << 20;
constexpr Bytes mib(double count) { return {static_cast<std::uint64_t>(count * kMib)}; }

struct Known {
  explicit Known(const std::string& text, JobSpec job = {}) {
    job.command = text;
    key = key_of(job, "/somewhere");
    facts.numbers = numbers_of(job.command);
  }
  Key key;
  JobFacts facts;
};

struct Past {
  void ran(const std::string& text, double peak_mib, Duration ran = seconds(2)) {
    const Known command(text);
    estimator.learn(
        {.key = command.key, .peak = mib(peak_mib), .ran = ran, .numbers = command.facts.numbers});
  }
  [[nodiscard]] Estimate expect(const std::string& text) const {
    const Known command(text);
    return estimator.estimate(command.key, command.facts);
  }
  [[nodiscard]] double peak(const std::string& text) const { return expect(text).peak.mean / kMib; }

  Estimator estimator;
};

TEST(Commands, TheSameOneIsKnownAgainAfterOneRun) {
  Past past;
  past.ran("python mem.py 800 1", 815);
  past.ran("python mem.py 20 1", 33);
  EXPECT_NEAR(past.peak("python mem.py 800 1"), 815, 1);
  EXPECT_NEAR(past.peak("python mem.py 20 1"), 33, 1);
  const double between = past.peak("python mem.py 400 1");
  EXPECT_GT(between, 100);
  EXPECT_LT(between, 700);
  EXPECT_LT(past.expect("python mem.py 800 1").peak.spread,
            past.expect("python mem.py 400 1").peak.spread);
}

// Many that have written the same leave less doubt than the one run of the command.
TEST(Commands, WhatOneWritesIsKnownFromItsClassWhereThatIsSurer) {
  Past past;
  const auto wrote = [&past](int number, double written_mib) {
    const Known command("python seed.py " + std::to_string(number));
    past.estimator.learn({.key = command.key,
                          .peak = mib(50),
                          .ran = seconds(2),
                          .numbers = command.facts.numbers,
                          .written = mib(written_mib)});
  };
  for (int i = 0; i < 20; ++i) wrote(i, 300);
  const auto alike = past.expect("python seed.py 7").written;
  ASSERT_TRUE(alike);
  EXPECT_NEAR(alike->mean / kMib, 300, 1);
  EXPECT_LT(alike->spread / kMib, 20);
  wrote(20, 3000);
  for (int i = 21; i < 40; ++i) wrote(i, 300);
  EXPECT_NEAR(past.expect("python seed.py 20").written->mean / kMib, 3000, 1)
      << "it is another matter";
}

TEST(Commands, FortyOfAClassAreToldApartInTheSecondRun) {
  Past past;
  for (int run = 0; run < 2; ++run) {
    for (int i = 0; i < 40; ++i) {
      past.ran("python seed.py " + std::to_string(1000 + i), i % 2 == 0 ? 50 : 400);
    }
  }
  EXPECT_NEAR(past.peak("python seed.py 1000"), 50, 1);
  EXPECT_NEAR(past.peak("python seed.py 1001"), 400, 1);
  EXPECT_NEAR(past.peak("python seed.py 2000"), 225, 40);  // the seed tells nothing
}

TEST(Commands, OneThatWasCutOffSaysNothingOfTheCommand) {
  Past past;
  for (int i = 0; i < 5; ++i) past.ran("tool " + std::to_string(i), 500, seconds(100));
  const Known killed("tool 9");
  past.estimator.learn({.key = killed.key,
                        .peak = mib(20),
                        .peak_seen = Seen::at_least,
                        .ran = milliseconds(200),
                        .ran_seen = Seen::at_least,
                        .numbers = killed.facts.numbers});
  EXPECT_GT(past.peak("tool 9"), 400);
  EXPECT_GT(past.expect("tool 9").remaining.mean, 50);
}

TEST(Commands, OneThatRunsUnlikeItselfIsJudgedByItsClass) {
  Past past;
  for (int i = 0; i < 20; ++i) past.ran("tool " + std::to_string(i), 500, seconds(100));
  past.ran("tool 99", 20, seconds(2));
  const Known same("tool 99");
  LiveProfile live_profile;
  for (int i = 0; i <= 10; ++i) {
    live_profile.observe({.ran = seconds(i), .used = mib(400), .peak = mib(400)});
  }
  const Estimate estimate = past.estimator.estimate(same.key, same.facts, live_profile);
  EXPECT_GT(estimate.peak.mean / kMib, 420);
  EXPECT_GT(estimate.remaining.mean, 30);
}

TEST(Commands, AreTheSameInOnePlaceAndOfOneIdOnly) {
  const auto digest = [](JobSpec job, std::string_view directory = "/a") {
    if (std::get_if<std::string>(&job.command) == nullptr) return key_of(job, directory).command;
    job.command = std::string("make all");
    return key_of(job, directory).command;
  };
  JobSpec job;
  job.id = JobId{7};
  job.name = "7";
  job.command = std::string("make all");
  const auto known = digest(job);
  EXPECT_NE(known, 0U);
  JobSpec later = job;
  later.id = JobId{8};
  later.name = "8";
  EXPECT_EQ(digest(later), known);  // its place in the list is no name
  EXPECT_NE(digest(job, "/b"), known);
  JobSpec named = job;
  named.name = "link";
  EXPECT_NE(digest(named), known);
  JobSpec classed = job;
  classed.job_class = "link";
  EXPECT_NE(digest(classed), known);
  JobSpec placed = job;
  placed.cwd = "/c";
  EXPECT_NE(digest(placed), known);
  EXPECT_EQ(digest(placed, "/b"), digest(placed));
  JobSpec set = job;
  set.env = {{"THREADS", "8"}};
  EXPECT_NE(digest(set), known);
  JobSpec words = job;
  words.command = std::vector<std::string>{"make", "all"};
  EXPECT_NE(digest(words), known);
  JobSpec nothing = job;
  nothing.command = std::vector<std::string>{};
  EXPECT_EQ(digest(nothing), 0U);
}

TEST(Numbers, OfASweepExplainWhatItTakes) {
  Past past;
  for (int size = 100; size <= 600; size += 100) {
    past.ran("python mem.py " + std::to_string(size) + " " + std::to_string(600 / size), size + 15,
             seconds(600 / size));
  }
  EXPECT_NEAR(past.peak("python mem.py 350 4"), 365, 10);
  EXPECT_NEAR(past.peak("python mem.py 900 4"), 915, 30);
  EXPECT_NEAR(past.expect("python mem.py 350 5").remaining.mean, 5, 0.5);
  EXPECT_LT(past.expect("python mem.py 350 4").peak.spread / kMib, 60);
}

TEST(Numbers, OfARunningJobSayHowItGoesOn) {
  Past past;
  for (int size = 100; size <= 800; size += 100) {
    past.ran("python mem.py " + std::to_string(size), size, seconds(size));
  }
  const Known large("python mem.py 1000");
  LiveProfile live_profile;
  for (int i = 0; i <= 5; ++i) {
    live_profile.observe({.ran = seconds(i), .used = mib(900), .peak = mib(900)});
  }
  EXPECT_GT(past.estimator.estimate(large.key, large.facts, live_profile).remaining.mean, 500);
}

TEST(Numbers, ThatFitByChanceAreNotBelieved) {
  Past past;
  // Two values are always on a line, and four seeds nearly so now and then.
  for (int i = 0; i < 10; ++i) past.ran("tool " + std::to_string(1 + i % 2), i % 2 == 0 ? 20 : 500);
  EXPECT_NEAR(past.peak("tool 10"), 260, 60);
  Past seeds;
  const double peaks[] = {100, 120, 110, 140};
  for (int i = 0; i < 4; ++i) seeds.ran("tool " + std::to_string(10 + i), peaks[i]);
  EXPECT_LT(seeds.peak("tool 100"), 150);
}

TEST(Numbers, AreThoseThatTheSignatureLeavesOut) {
  using Values = std::vector<double>;
  const auto of = [](const std::string& text) { return numbers_of(Command(text)); };
  EXPECT_EQ(of("python mem.py 800 1.5 -2.5e3"), (Values{800, 1.5, -2500}));
  EXPECT_EQ(of("dd if=/dev/zero count=12 bs=2M"), (Values{12, 2 * kMib}));
  EXPECT_EQ(of("tool --size=3G -n800 --time=5s"), (Values{3 * 1024 * kMib, 800, 5}));
  EXPECT_EQ(of("cd /x && tool 1 2; other 3"), (Values{1, 2}));
  EXPECT_EQ(of("gcc -O2 -c a1.c img/002.png 800x600 nan inf 1e999 --level -"), Values{});
  EXPECT_EQ(of("tool 1 2 3 4 5 6 7 8 9").size(), kNumbersMax);
  EXPECT_EQ(of(""), Values{});
}

TEST(Limits, OfItsOwnBoundWhatIsBelievedOfAJob) {
  Past past;
  for (int i = 0; i < 3; ++i) past.ran("work " + std::to_string(i), 300);
  Known job("work 9");
  job.facts.memory_max = mib(60);
  job.facts.cpus = 0.5;
  LiveProfile live_profile;
  live_profile.observe({.ran = seconds(1), .used = mib(10), .peak = mib(10), .cpu = seconds(1)});
  live_profile.observe({.ran = seconds(2), .used = mib(30), .peak = mib(30), .cpu = seconds(2)});
  for (const Estimate& estimate : {past.estimator.estimate(job.key, job.facts),
                                   past.estimator.estimate(job.key, job.facts, live_profile),
                                   Estimator().estimate(job.key, job.facts)}) {
    EXPECT_LE(estimate.peak.mean + estimate.peak.spread, 60 * kMib + 1);
    for (const Belief& ahead : estimate.ahead) EXPECT_LE(ahead.mean + ahead.spread, 60 * kMib + 1);
    EXPECT_LE(estimate.cores.mean + estimate.cores.spread, 0.5 + 1e-9);
  }
  job.facts.reached = mib(55);
  EXPECT_LE(past.estimator.estimate(job.key, job.facts).peak.mean, 60 * kMib);
}

}  // namespace
}  // namespace plimsoll::policy
