#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "governor_story.h"
#include "policy/crowding.h"

namespace plimsoll::policy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Two cores, room for everything else, and jobs that turned out to compute only once they ran.
struct Crowd : Story {
  explicit Crowd(unsigned jobs, double cores_each = 1)
      : Story({.line = mib(10'000), .cores = 2, .jobs_max = 100}) {
    start(jobs);
    for (unsigned id = 1; id <= jobs; ++id) {
      for (double t = jobs + 1; t < jobs + 4; t += 0.25) uses(id, t, 10, id);
      governor.expect(JobId{id}, flat({.mib = 10, .seconds = 10'000, .cores = cores_each}),
                      at(jobs + 4));
    }
  }

  void start(unsigned jobs) {
    for (unsigned id = 1; id <= jobs; ++id) {
      waits(id, {.mib = 10, .seconds = 10'000, .cores = 0.01});
      EXPECT_THAT(rules(id), ElementsAre("admit " + std::to_string(id)));
    }
  }

  // Looks ten times a second at a run queue of `tasks`; what was decided, with the second.
  std::vector<std::string> queue(double from, double to, std::uint64_t tasks) {
    std::vector<std::string> decided;
    MachineSample sample;
    sample.runnable = tasks;
    for (double t = from; t < to; t += 0.1) {
      uses(1, t, 10, 1);  // else it would seem to wait for one that is frozen
      looks(t, sample);
      for (const std::string& word : rules(t)) {
        decided.push_back(word);
        when.push_back(t);
        why.push_back(reasons.front());
      }
    }
    return decided;
  }

  std::vector<double> when;
  std::vector<std::string> why;
};

TEST(Crowding, ALongQueueThatPersistsFreezesTheLastStarted) {
  Crowd crowd(6);
  EXPECT_THAT(crowd.queue(10, 39, 20), IsEmpty());
  EXPECT_THAT(crowd.queue(39, 45, 20), ElementsAre("freeze 6"));
  EXPECT_NEAR(crowd.when.front(), 40, 1.5);
  EXPECT_THAT(crowd.why.front(), HasSubstr("20 tasks want to run on 2 cores"));
}

TEST(Crowding, AQueueThatBreaksOffIsNone) {
  Crowd crowd(6);
  EXPECT_THAT(crowd.queue(10, 35, 20), IsEmpty());
  EXPECT_THAT(crowd.queue(35, 60, 1), IsEmpty());
  EXPECT_THAT(crowd.queue(60, 85, 20), IsEmpty());
}

TEST(Crowding, OneAtATimeAndAsManyAsCoresGoOn) {
  Crowd crowd(6);
  EXPECT_THAT(crowd.queue(10, 200, 50),
              ElementsAre("freeze 6", "freeze 5", "freeze 4", "freeze 3"));
  for (std::size_t i = 1; i < crowd.when.size(); ++i) {
    EXPECT_GE(crowd.when[i] - crowd.when[i - 1], 9.9);
  }
  EXPECT_FALSE(crowd.governor.is_frozen(JobId{1}));
  EXPECT_FALSE(crowd.governor.is_frozen(JobId{2}));
}

TEST(Crowding, GoesOnWhenTheQueueIsShortWithIt) {
  Crowd crowd(4);
  ASSERT_THAT(crowd.queue(10, 45, 9), ElementsAre("freeze 4"));
  // Memory has room all the time. Fewer than four tasks a core are not enough.
  EXPECT_THAT(crowd.queue(45, 90, 5), IsEmpty());
  EXPECT_THAT(crowd.queue(90, 120, 2), ElementsAre("thaw 4"));
}

TEST(Crowding, WhoDoesNotComputeIsLeftAlone) {
  Crowd crowd(6, 0.1);
  EXPECT_THAT(crowd.queue(10, 100, 50), IsEmpty());
}

TEST(Crowding, NothingIsFrozenWhereNothingMayBe) {
  Crowd crowd(0);
  crowd.governor = Governor({.line = mib(10'000), .cores = 2, .jobs_max = 100, .may_pause = false});
  crowd.start(6);
  for (unsigned id = 1; id <= 6; ++id) {
    crowd.uses(id, 7, 10, id);
    crowd.governor.expect(JobId{id}, flat({.mib = 10, .seconds = 10'000}), at(7));
  }
  EXPECT_THAT(crowd.queue(10, 100, 50), IsEmpty());
}

TEST(Crowding, WhatIsFrozenForCoresIsNoWaste) {
  Crowd crowd(4);
  crowd.governor.set_share({.line = mib(41), .cores = crowd.governor.cores()});
  ASSERT_THAT(crowd.queue(10, 45, 9), ElementsAre("freeze 4"));
  // There is no room to spare for it either; but that is not what it waits for.
  for (const std::string& word : crowd.queue(45, 4000, 9)) {
    EXPECT_THAT(word, Not(HasSubstr("evict")));
  }
}

}  // namespace
}  // namespace plimsoll::policy
