#include "cli/synced_ends.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <semaphore>

#include "base/loop/loop.h"

namespace plimsoll::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A disk that is done when the test says so.
struct SyncedEndsTest : ::testing::Test, EndsFile {
  Result<void> force() override {
    asked.release();
    answers.acquire();
    if (is_broken) return fail(std::errc::io_error, "force");
    return {};
  }
  void on_force_failed(const Error& error) override { failures.push_back(error.message()); }

  void end(int job) {
    ends.add([this, job] { told.push_back(job); });
  }
  void wait_for(std::size_t count) {
    while (told.size() < count) ASSERT_TRUE(loop.run_once(Duration(-1)));
  }

  loop::Loop loop{*loop::Loop::create()};
  std::counting_semaphore<> asked{0}, answers{0};
  bool is_broken = false;
  std::vector<int> told;
  std::vector<std::string> failures;
  SyncedEnds ends{loop, *this};
};

TEST_F(SyncedEndsTest, AreToldWhenTheyAreOnTheDisk) {
  end(1);
  asked.acquire();
  end(2);
  end(3);
  EXPECT_THAT(told, IsEmpty());
  answers.release();
  wait_for(1);
  EXPECT_THAT(told, ElementsAre(1));
  asked.acquire();  // once for both
  answers.release();
  wait_for(3);
  EXPECT_THAT(told, ElementsAre(1, 2, 3));
  EXPECT_FALSE(asked.try_acquire());
}

TEST_F(SyncedEndsTest, AreAllToldAtTheEnd) {
  end(1);
  asked.acquire();
  end(2);
  answers.release(2);
  ends.finish();
  EXPECT_THAT(told, ElementsAre(1, 2));
  EXPECT_TRUE(loop.run_once(Duration{}));  // what was posted meanwhile tells nothing twice
  EXPECT_THAT(told, ElementsAre(1, 2));
  EXPECT_EQ(ends.unforced(), 0U);
}

TEST_F(SyncedEndsTest, AreToldThoughTheDiskFails) {
  is_broken = true;
  answers.release(2);
  end(1);
  wait_for(1);
  end(2);
  ends.finish();
  EXPECT_THAT(told, ElementsAre(1, 2));
  EXPECT_THAT(failures, ElementsAre("force: Input/output error"));
  EXPECT_EQ(ends.unforced(), 2U);
}

TEST_F(SyncedEndsTest, DoNotPileUpBeforeADiskThatHangs) {
  answers.release(2);
  for (std::size_t i = 0; i < kSyncedEndsMax + 1; ++i) end(static_cast<int>(i));
  EXPECT_FALSE(told.empty());
  ends.finish();
  EXPECT_EQ(told.size(), kSyncedEndsMax + 1);
}

}  // namespace
}  // namespace plimsoll::cli
