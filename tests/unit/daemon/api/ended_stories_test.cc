#include "daemon/api/ended_stories.h"

#include <gtest/gtest.h>

namespace plimsoll::daemon {
namespace {

constexpr std::uint32_t kStoryAnn = 1001, kStoryBen = 1002;

JobStory story_of(std::size_t decisions) {
  JobStory made;
  made.decisions.resize(decisions);
  return made;
}

TEST(EndedStories, OneUsersShortJobsLeaveTheOthersTheirs) {
  EndedStories ended;
  ended.add(JobId{1}, kStoryBen, story_of(3));
  for (std::uint64_t job = 2; job <= 5000; ++job) ended.add(JobId{job}, kStoryAnn, story_of(1));
  ASSERT_NE(ended.find(JobId{1}), nullptr);
  EXPECT_EQ(ended.find(JobId{1})->uid, kStoryBen);
  EXPECT_EQ(ended.find(JobId{1})->story.decisions.size(), 3u);
  EXPECT_NE(ended.find(JobId{5000 - EndedStories::kOfUserMax + 1}), nullptr);
  EXPECT_EQ(ended.find(JobId{5000 - EndedStories::kOfUserMax}), nullptr);
}

TEST(EndedStories, LongOnesAreFewer) {
  EndedStories ended;
  for (std::uint64_t job = 1; job <= 50; ++job) ended.add(JobId{job}, kStoryAnn, story_of(1000));
  EXPECT_EQ(ended.find(JobId{30}), nullptr);
  EXPECT_NE(ended.find(JobId{31}), nullptr);
  ended.add(JobId{51}, kStoryAnn, story_of(1'000'000));
  EXPECT_NE(ended.find(JobId{51}), nullptr) << "the last is kept, whatever it is";
  EXPECT_EQ(ended.find(JobId{50}), nullptr);
}

TEST(EndedStories, OfManyUsersTheOneWithMostLosesHis) {
  EndedStories ended;
  ended.add(JobId{1}, kStoryBen, story_of(2));
  std::uint64_t job = 1;
  for (std::uint32_t uid = 2000; uid < 2010; ++uid) {
    for (int i = 0; i < 20; ++i) ended.add(JobId{++job}, uid, story_of(1000));
  }
  EXPECT_NE(ended.find(JobId{1}), nullptr);
  EXPECT_NE(ended.find(JobId{job}), nullptr);
  EXPECT_EQ(ended.find(JobId{2}), nullptr);
}

// As many short ones as there may be, of ten users, and one long one of another.
TEST(EndedStories, ManyUsersShortJobsLeaveAnothersLongOne) {
  EndedStories ended;
  std::uint64_t job = 1;
  for (std::uint32_t uid = 2000; uid < 2010; ++uid) {
    for (std::size_t i = 0; i < EndedStories::kOfUserMax; ++i) {
      ended.add(JobId{++job}, uid, story_of(1));
    }
  }
  ended.add(JobId{1}, kStoryBen, story_of(100));
  EXPECT_NE(ended.find(JobId{1}), nullptr);
}

}  // namespace
}  // namespace plimsoll::daemon
