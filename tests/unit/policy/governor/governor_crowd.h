#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "governor_story.h"

// Stories that begin with a crowd of jobs at the line.
namespace plimsoll::policy {

inline GovernorConfig small() { return {.line = mib(1000), .cores = 8, .jobs_max = 1000}; }

// So many jobs run that use 100 MiB each, started one second apart, the last look at second 10.
inline Story crowd(const GovernorConfig& config, unsigned jobs, double spread = 0) {
  Story story(config);
  for (unsigned id = 1; id <= jobs; ++id) {
    story.waits(id, {.mib = 100, .seconds = 1000, .cores = 0.1, .spread = spread});
    EXPECT_THAT(story.rules(id), ::testing::ElementsAre("admit " + std::to_string(id)));
  }
  for (double t = 8.25; t <= 10; t += 0.25) {
    for (unsigned id = 1; id <= jobs; ++id) story.uses(id, t, 100, id);
  }
  story.samples(10);
  EXPECT_THAT(story.rules(10), ::testing::IsEmpty());
  return story;
}

// Of a crowd of four the third grows most, by 350 MiB a second in the end, and at 11.5 all together
// are past the line: 600 + 250 + 2 x 100 = 1050.
inline void third_of_four_grows(Story& story) {
  story.uses(2, 11, 250, 2);
  story.uses(3, 11, 350, 3);
  story.uses(3, 11.5, 600, 3);
}

// The same where none may be paused that is not the oldest.
inline Story unpausable_crowd_past_the_line() {
  Story story = crowd(small(), 4);
  for (const unsigned id : {2U, 3U, 4U}) story.job(id).pausable = false;
  third_of_four_grows(story);
  return story;
}

// One of a crowd of eight grows by 160 MiB in half a second, until 10.5, and is frozen for it.
inline void grows_and_is_frozen(Story& story, unsigned id) {
  story.uses(id, 10.3, 200, id);
  story.uses(id, 10.5, 260, id);
  story.samples(10.5);
  ASSERT_THAT(story.rules(10.5), ::testing::ElementsAre("freeze " + std::to_string(id)));
}

}  // namespace plimsoll::policy
