#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "governor_story.h"
#include "policy/governor/crowding.h"

namespace plimsoll::policy {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Two cores, room for everything else, and jobs that turn out to compute only once they run.
struct Crowd : Story {
  explicit Crowd(unsigned count, bool may_pause = true)
      : Story({.line = mib(10'000), .cores = 2, .jobs_max = 100, .may_pause = may_pause}),
        size(count) {
    for (unsigned id = 1; id <= size; ++id) {
      waits(id, {.mib = 10, .seconds = 10'000, .cores = 0.01});
      EXPECT_THAT(rules(0.1 * id), ElementsAre("admit " + std::to_string(id)));
    }
  }

  // All that run want so many cores each; what was decided, with the second. Looks ten times a
  // second.
  std::vector<std::string> want(double from, double to, double cores_each) {
    std::vector<std::string> decided;
    for (double t = from; t < to; t += 0.1) {
      for (unsigned id = 1; id <= size; ++id) {
        if (is_frozen(id)) continue;
        uses(id, t, 10, 0.1 * id);
        governor.expect(job(id), flat({.mib = 10, .seconds = 10'000, .cores = cores_each}), at(t));
      }
      samples(t);
      for (const std::string& word : rules(t)) {
        decided.push_back(word);
        when.push_back(t);
        why.push_back(reasons.front());
      }
    }
    return decided;
  }

  unsigned size;
  std::vector<double> when;
  std::vector<std::string> why;
};

TEST(Crowding, JobsThatWantFarTooManyCoresForLongFreezeTheLastStarted) {
  Crowd crowd(6);
  EXPECT_THAT(crowd.want(10, 39, 1.4), IsEmpty());
  EXPECT_THAT(crowd.want(39, 55, 1.4), ElementsAre("freeze 6"));
  EXPECT_NEAR(crowd.when.front(), 40, 1.5);
  EXPECT_THAT(crowd.why.front(), HasSubstr("want 8.4 cores, and there are 2"));
}

TEST(Crowding, ACrowdThatBreaksOffIsNone) {
  Crowd crowd(6);
  EXPECT_THAT(crowd.want(10, 35, 10), IsEmpty());
  EXPECT_THAT(crowd.want(35, 60, 0.1), IsEmpty());
  EXPECT_THAT(crowd.want(60, 85, 10), IsEmpty());
}

TEST(Crowding, OneAtATimeAndAsManyAsCoresGoOn) {
  Crowd crowd(6);
  EXPECT_THAT(crowd.want(10, 200, 9), ElementsAre("freeze 6", "freeze 5", "freeze 4", "freeze 3"));
  for (std::size_t i = 1; i < crowd.when.size(); ++i) {
    EXPECT_GE(crowd.when[i] - crowd.when[i - 1], 9.9);
  }
  EXPECT_FALSE(crowd.is_frozen(1));
  EXPECT_FALSE(crowd.is_frozen(2));
}

TEST(Crowding, GoesOnWhenThereIsRoomForItsCores) {
  Crowd crowd(4);
  ASSERT_THAT(crowd.want(10, 45, 2.1), ElementsAre("freeze 4"));
  // Memory has room all the time. That the cores are less crowded than for a freeze is not enough.
  EXPECT_THAT(crowd.want(45, 90, 1), IsEmpty());
  EXPECT_THAT(crowd.want(90, 120, 0.5), ElementsAre("thaw 4"));
}

TEST(Crowding, WhoDoesNotComputeIsLeftAlone) {
  Crowd crowd(20);
  EXPECT_THAT(crowd.want(10, 100, 0.45), IsEmpty());
}

TEST(Crowding, NothingIsFrozenWhereNothingMayBe) {
  Crowd crowd(6, false);
  EXPECT_THAT(crowd.want(10, 100, 10), IsEmpty());
}

// Fifty jobs of one user that compute without an end, and short ones of another, one after the
// other: whoever started last is always his.
struct TwoUsers : Story {
  static constexpr unsigned kHog = 1, kOther = 2, kHogs = 50;

  TwoUsers() : Story({.line = mib(10'000), .cores = 2, .jobs_max = 100}) {
    for (unsigned id = 1; id <= kHogs; ++id) {
      waits_for(kHog, id, {.mib = 10, .seconds = 10'000, .cores = 0.01});
      EXPECT_THAT(rules(0.01 * id), ElementsAre("admit " + std::to_string(id)));
    }
  }

  // Until `to`, the other runs `at_once` jobs, each for `seconds` of not being frozen.
  void go_on(double from, double to, unsigned at_once, double seconds) {
    for (double t = from; t < to; t += 0.1) {
      for (unsigned id = 1; id <= kHogs; ++id) computes(id, t, 0);
      for (auto& [id, left] : short_ones) {
        if (is_frozen(id)) continue;
        computes(id, t, started[id]);
        left -= 0.1;
      }
      for (auto one = short_ones.begin(); one != short_ones.end();) {
        if (one->second > 0) {
          ++one;
          continue;
        }
        longest = std::max(longest, t - started[one->first]);
        ends(one->first, t);
        one = short_ones.erase(one);
      }
      while (waiting + short_ones.size() < at_once) {
        waits_for(kOther, next++, {.mib = 10, .seconds = seconds, .cores = 1}, t);
        ++waiting;
      }
      samples(t);
      for (const std::string& word : rules(t)) {
        if (!word.starts_with("admit")) {
          decided.push_back(word);
          continue;
        }
        --waiting;
        short_ones[number_in(word)] = seconds;
        started[number_in(word)] = t;
      }
    }
  }

  void computes(unsigned id, double t, double since) {
    if (is_frozen(id)) return;
    uses(id, t, 10, since);
    governor.expect(job(id), flat({.mib = 10, .seconds = 10'000, .cores = 1}), at(t));
  }

  std::map<unsigned, double> short_ones, started;
  std::vector<std::string> decided;
  double longest = 0;
  unsigned next = 1001;
  std::size_t waiting = 0;
};

TEST(Crowding, WhoseJobsMakeTheCrowdHasThemFrozen) {
  TwoUsers users;
  users.go_on(1, 120, 4, 0.5);
  EXPECT_THAT(users.decided, Contains("freeze 50"));
  for (const std::string& word : users.decided) EXPECT_LE(number_in(word), TwoUsers::kHogs);
  EXPECT_LT(users.longest, 1);
}

// Also his whose jobs are a crowd by themselves: what is frozen goes before what has not begun.
TEST(Crowding, WhoComesLaterDoesNotKeepTheFrozenWaiting) {
  TwoUsers users;
  users.go_on(1, 900, 8, 0.5);
  for (const auto& [id, left] : users.short_ones) {
    EXPECT_GT(users.started[id], 880) << id;
  }
}

TEST(Crowding, WhatIsFrozenForCoresIsNoWaste) {
  Crowd crowd(4);
  ASSERT_THAT(crowd.want(5, 10, 0.1), IsEmpty());  // they have their memory
  crowd.governor.set_share({.line = mib(41), .cores = crowd.governor.cores()});
  ASSERT_THAT(crowd.want(10, 45, 2.1), ElementsAre("freeze 4"));
  // There is no room to spare for it either; but that is not what it waits for.
  for (const std::string& word : crowd.want(45, 4000, 1.5)) {
    EXPECT_THAT(word, Not(HasSubstr("evict")));
  }
}

}  // namespace
}  // namespace plimsoll::policy
