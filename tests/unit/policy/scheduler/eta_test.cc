// How long a run is said to take still, on the courses of runs that took what they took.
#include "policy/scheduler/eta.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace plimsoll::policy {
namespace {

Instant at(double seconds) {
  return Instant(std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds)));
}

// Jobs of these lengths, so many at once, in this order. Nothing is known before; each that ended
// tells what those to come take.
struct Replay {
  std::vector<double> lengths;
  std::size_t at_once = 1;
  double jobs_max = 1000;

  struct Said {
    double elapsed = 0, left = 0;
  };
  std::vector<Said> said{};
  double makespan = 0;

  // Asks each time that a job has ended, and once before.
  void run() {
    RunProgress progress;
    std::vector<std::pair<double, double>> running;  // start, end
    std::size_t next = 0;
    double now = 0;
    for (;;) {
      while (running.size() < at_once && next < lengths.size()) {
        running.emplace_back(now, now + lengths[next++]);
      }
      if (running.empty()) break;
      progress.note(at(now), running.size(), lengths.size() - next);
      WorkLeft work{
          .waiting = {}, .running = {}, .jobs_max = jobs_max, .cores = 1000, .line = 1e12};
      for (const auto& [start, end] : running) {
        work.running.push_back({.ran = now - start, .left = left(progress, now - start)});
      }
      if (next < lengths.size()) {
        work.waiting.push_back(
            {.jobs = static_cast<double>(lengths.size() - next), .seconds = progress.length()});
      }
      if (const auto seconds = seconds_left(work, progress)) said.push_back({now, *seconds});
      const auto first =
          std::min_element(running.begin(), running.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      now = first->second;
      progress.ended(first->second - first->first);
      running.erase(first);
    }
    makespan = now;
  }

 private:
  static std::optional<Belief> left(const RunProgress& progress, double ran) {
    const auto length = progress.length();
    if (!length) return std::nullopt;
    return Belief{std::max(0.2, length->mean - ran), length->spread};
  }
};

TEST(Eta, ThirtySleepsOfThreeSecondsTwoAtATime) {
  Replay replay{.lengths = std::vector<double>(30, 3.0), .at_once = 2, .jobs_max = 2};
  replay.run();
  EXPECT_DOUBLE_EQ(replay.makespan, 45);
  ASSERT_FALSE(replay.said.empty());
  for (const auto& [elapsed, left] : replay.said) {
    EXPECT_NEAR(elapsed + left, 45, 3) << "at " << elapsed;
  }
}

TEST(Eta, FortySleepsOfThreeToFiveSecondsAsManyAtOnceAsWasSeen) {
  for (const std::size_t at_once : {2U, 4U, 7U}) {
    Replay replay{.lengths = {}, .at_once = at_once};
    for (int i = 0; i < 40; ++i) replay.lengths.push_back(3 + (i * 7 % 40) / 19.5);
    replay.run();
    for (const auto& [elapsed, left] : replay.said) {
      // Before anything is seen of how many run at once, all of them might.
      if (elapsed < 0.2 * replay.makespan) continue;
      EXPECT_NEAR(elapsed + left, replay.makespan, 0.15 * replay.makespan) << "at " << elapsed;
    }
  }
}

TEST(Eta, IsNotKnownBeforeAnythingTellsHowLongAJobTakes) {
  RunProgress progress;
  WorkLeft work{.waiting = {{.jobs = 10}}, .running = {{.ran = 5}}};
  EXPECT_EQ(seconds_left(work, progress), std::nullopt);
  progress.ended(10);
  ASSERT_TRUE(seconds_left(work, progress));
  EXPECT_NEAR(*seconds_left(work, progress), 105, 5);
}

TEST(Eta, FollowsWhateverBoundIsNarrowest) {
  const RunProgress nothing;
  const Belief ten{10, 0};
  WorkLeft work{.waiting = {{.jobs = 100, .seconds = ten, .cores = 1, .bytes = 100}},
                .running = {},
                .jobs_max = 1000,
                .cores = 1000,
                .line = 1e6};
  EXPECT_NEAR(*seconds_left(work, nothing), 10, 0.1);
  work.jobs_max = 20;
  EXPECT_NEAR(*seconds_left(work, nothing), 50, 0.1);
  work.cores = 10;
  EXPECT_NEAR(*seconds_left(work, nothing), 100, 0.1);
  work.line = 500;
  EXPECT_NEAR(*seconds_left(work, nothing), 200, 0.1);
}

TEST(Eta, TheLongestJobIsTheLeast) {
  const RunProgress nothing;
  const WorkLeft work{.waiting = {{.jobs = 10, .seconds = Belief{1, 0}}},
                      .running = {{.ran = 5, .left = Belief{300, 30}}},
                      .jobs_max = 100,
                      .cores = 100,
                      .line = 1};
  EXPECT_NEAR(*seconds_left(work, nothing), 300, 1);
}

TEST(Eta, OfThousandsOfJobsIsTheirSum) {
  const RunProgress nothing;
  const WorkLeft work{
      .waiting = {{.jobs = 90'000, .seconds = Belief{1, 0.5}},
                  {.jobs = 10'000, .seconds = Belief{5, 1}}},
      .running = {{.ran = 1, .left = Belief{2, 1}}, {.ran = 1, .left = Belief{1, 1}}},
      .jobs_max = 20,
      .cores = 100,
      .line = 1};
  EXPECT_NEAR(*seconds_left(work, nothing), 140'000 / 20.0, 200);
}

TEST(RunProgress, TheLaterHalfCountsMost) {
  RunProgress progress;
  progress.note(at(0), 2, 10);
  progress.note(at(10), 6, 10);
  EXPECT_DOUBLE_EQ(progress.at_once(), 2);
  progress.note(at(20), 6, 0);  // from here on nobody waits: fewer run because there are no more
  EXPECT_DOUBLE_EQ(progress.at_once(), 5);
  progress.note(at(100), 1, 0);
  EXPECT_DOUBLE_EQ(progress.at_once(), 5);
  EXPECT_DOUBLE_EQ(progress.seen_seconds(), 20);
}

}  // namespace
}  // namespace plimsoll::policy
