#include "supervisor/run/lesson.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "store/history/state_dir.h"
#include "store/history/store.h"

namespace plimsoll::supervisor {
namespace {

using namespace std::chrono_literals;
using namespace plimsoll::literals;
using ::testing::ElementsAre;
using ::testing::Optional;

policy::JobSpec job_of(const std::string& job_class) {
  policy::JobSpec job;
  job.command = std::vector<std::string>{"gcc", "-c", "a.c"};
  job.job_class = job_class;
  job.memory_hint = 300_MiB;
  return job;
}

counters::Sample look(Duration t, Bytes used) {
  counters::Sample sample;
  sample.t = t;
  sample.memory.used = used;
  return sample;
}

AttemptResult result_of(policy::Outcome outcome) {
  AttemptResult result;
  result.end = {.outcome = outcome, .exit_code = 0, .signal = {}, .wall = 10s};
  result.paused = 2s;
  result.usage.totals.cpu.usage = 4s;
  result.usage.totals.memory.peak = 500_MiB;
  result.usage.samples = {look(1s, 100_MiB), look(3s, 200_MiB), look(9s, 50_MiB)};
  return result;
}

TEST(LessonOf, WhatItDidWithDevices) {
  AttemptResult result = result_of(policy::Outcome::exited);
  const auto unknown = lesson_of(job_of("mine"), result, {});
  EXPECT_EQ(unknown->io, std::nullopt);
  EXPECT_EQ(unknown->io_wait, std::nullopt);
  counters::IoUsage& io = result.usage.totals.io;
  io.read = 30_MiB;
  io.written = 5_MiB;
  io.pressure = counters::Pressure{.some = counters::PressureLine{.total = 3s}, .full = {}};
  const auto lesson = lesson_of(job_of("mine"), result, {});
  EXPECT_EQ(lesson->io, 35_MiB);
  EXPECT_EQ(lesson->io_wait, 3s);
}

TEST(LessonOf, ACommandThatHasEndedByItself) {
  const auto lesson = lesson_of(job_of("mine"), result_of(policy::Outcome::exited), 7_MiB);
  ASSERT_TRUE(lesson);
  EXPECT_EQ(lesson->key.exact, "mine");
  EXPECT_EQ(lesson->peak, 200_MiB);  // the kernel's counts what could have been dropped
  EXPECT_EQ(lesson->peak_seen, policy::Seen::whole);
  EXPECT_EQ(lesson->ran, 8s);
  EXPECT_EQ(lesson->ran_seen, policy::Seen::whole);
  EXPECT_EQ(lesson->cores, 0.5);
  EXPECT_EQ(lesson->input, 7_MiB);
  EXPECT_EQ(lesson->memory_hint, 300_MiB);
  EXPECT_THAT(lesson->curve,
              ElementsAre(policy::CurvePoint{1s, 100_MiB}, policy::CurvePoint{3s, 200_MiB},
                          policy::CurvePoint{9s, 50_MiB}));
}

TEST(LessonOf, OneThatWasEndedNeedsAtLeastSoMuch) {
  const auto lesson = lesson_of(job_of("mine"), result_of(policy::Outcome::over_limit), {});
  ASSERT_TRUE(lesson);
  EXPECT_EQ(lesson->peak_seen, policy::Seen::at_least);
  EXPECT_EQ(lesson->ran_seen, policy::Seen::at_least);
}

TEST(LessonOf, WithoutALookTheKernelsPeakStandsIn) {
  AttemptResult result = result_of(policy::Outcome::exited);
  result.usage.samples.clear();
  EXPECT_EQ(lesson_of(job_of("mine"), result, {})->peak, 500_MiB);
}

TEST(LessonOf, OfWhatNobodySawItIsNotLearntThatItNeedsNothing) {
  AttemptResult result = result_of(policy::Outcome::exited);
  result.usage.samples.clear();
  result.usage.totals.memory.peak.reset();
  const auto lesson = lesson_of(job_of("mine"), result, {});
  ASSERT_TRUE(lesson);
  EXPECT_EQ(lesson->peak_seen, policy::Seen::at_least);
  EXPECT_EQ(lesson->ran_seen, policy::Seen::whole);
}

TEST(LessonOf, WhatDidNotStartTeachesNothing) {
  EXPECT_FALSE(lesson_of(job_of("mine"), result_of(policy::Outcome::failed_to_start), {}));
}

TEST(LessonOf, WhatAShellCouldNotExecuteTeachesNothing) {
  for (const int status : {126, 127}) {
    AttemptResult result = result_of(policy::Outcome::exited);
    result.end.exit_code = status;
    EXPECT_FALSE(lesson_of(job_of("mine"), result, {})) << status;
    result.end.exit_code = status + 2;
    EXPECT_TRUE(lesson_of(job_of("mine"), result, {})) << status;
  }
}

struct RecallTest : ::testing::Test {
  RecallTest() {
    std::string name = ::testing::TempDir() + "recallXXXXXX";
    directory = ::mkdtemp(name.data());
  }
  ~RecallTest() override { std::filesystem::remove_all(directory); }

  void learn(const std::string& job_class, Bytes peak, int times) const {
    auto opened = history::Store::open(history::history_path(directory), WallTime());
    ASSERT_TRUE(opened) << opened.error().message();
    AttemptResult result = result_of(policy::Outcome::exited);
    result.usage.samples = {look(1s, peak)};
    const auto lesson = lesson_of(job_of(job_class), result, {});
    const std::vector<history::Entry> entries(static_cast<std::size_t>(times), {*lesson, {}});
    ASSERT_TRUE(opened->store.add(entries));
  }

  std::string directory;
};

TEST_F(RecallTest, WithoutAHistoryNothing) {
  EXPECT_FALSE(recall(directory, job_of("mine")));
  EXPECT_FALSE(std::filesystem::exists(history::history_path(directory)));
}

TEST_F(RecallTest, WhatTheClassHasNeeded) {
  learn("mine", 900_MiB, 20);
  learn("other", 10_MiB, 20);
  const auto estimate = recall(directory, job_of("mine"));
  ASSERT_TRUE(estimate);
  EXPECT_NEAR(estimate->peak.mean, to_double(900_MiB), to_double(100_MiB));
  EXPECT_NEAR(estimate->cores.mean, 0.5, 0.1);
}

TEST_F(RecallTest, WithoutAPastOfTheClassThatOfTheToolUnlessTheUserSaysWhatItNeeds) {
  learn("other", 10_MiB, 20);
  policy::JobSpec job = job_of("mine");
  EXPECT_FALSE(recall(directory, job));
  job.memory_hint.reset();
  EXPECT_TRUE(recall(directory, job));
}

TEST_F(RecallTest, OfAnotherToolItKnowsNothing) {
  learn("other", 10_MiB, 20);
  policy::JobSpec job = job_of("");
  job.memory_hint.reset();
  EXPECT_TRUE(recall(directory, job));
  job.command = std::vector<std::string>{"sort", "a.txt"};
  EXPECT_FALSE(recall(directory, job));
}

}  // namespace
}  // namespace plimsoll::supervisor
