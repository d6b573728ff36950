#include "base/loop/batch_thread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <future>

namespace plimsoll::loop {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

TEST(BatchThread, WorksEverythingInOrder) {
  std::vector<int> seen;
  BatchThread<int> thread({.weight_max = 1000, .gather = 0ns}, [&](const std::vector<int>& batch) {
    seen.insert(seen.end(), batch.begin(), batch.end());
  });
  std::vector<int> expected;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(thread.add(i));
    expected.push_back(i);
  }
  thread.finish();
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(thread.dropped(), 0U);
}

TEST(BatchThread, GathersWhatComesTogether) {
  std::vector<std::size_t> sizes;
  BatchThread<int> thread({.weight_max = 10, .gather = 1h},
                          [&](const std::vector<int>& batch) { sizes.push_back(batch.size()); });
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(thread.add(i));
  thread.finish();  // ends the wait for more
  EXPECT_THAT(sizes, ElementsAre(5));
}

TEST(BatchThread, DropsWhatThereIsNoRoomFor) {
  std::promise<void> entered;
  std::promise<void> leave;
  int worked = 0;
  BatchThread<int> thread({.weight_max = 3, .gather = 0ns}, [&](const std::vector<int>& batch) {
    if (worked == 0) {
      entered.set_value();
      leave.get_future().wait();
    }
    worked += static_cast<int>(batch.size());
  });
  EXPECT_TRUE(thread.add(1));
  entered.get_future().wait();
  EXPECT_TRUE(thread.add(2, {.weight = 2}));
  EXPECT_FALSE(thread.add(3, {.weight = 2}));
  EXPECT_FALSE(thread.add(3, {.weight = 1, .leaves = 1}));
  EXPECT_TRUE(thread.add(4));
  leave.set_value();
  thread.finish();
  EXPECT_EQ(worked, 3);
  EXPECT_EQ(thread.dropped(), 2U);
}

TEST(BatchThread, TakesNothingAfterTheEnd) {
  BatchThread<int> thread({.weight_max = 3, .gather = 0ns}, [](const std::vector<int>&) {});
  thread.finish();
  EXPECT_FALSE(thread.add(1));
  EXPECT_EQ(thread.dropped(), 1U);
}

// No thread can be had, as each would need a stack for which there are no addresses.
class NoThreads {
 public:
  NoThreads() {
    EXPECT_EQ(::pthread_getattr_default_np(&before_), 0);
    pthread_attr_t huge;
    EXPECT_EQ(::pthread_getattr_default_np(&huge), 0);
    EXPECT_EQ(::pthread_attr_setstacksize(&huge, std::size_t{1} << 50), 0);
    EXPECT_EQ(::pthread_setattr_default_np(&huge), 0);
    ::pthread_attr_destroy(&huge);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;
  ~NoThreads() {
    EXPECT_EQ(::pthread_setattr_default_np(&before_), 0);
    ::pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_{};
};

TEST(BatchThread, WithoutAThreadTheEndWorksEverything) {
  std::vector<int> seen;
  BatchThread<int> thread({.weight_max = 2, .gather = 1h}, [&](const std::vector<int>& batch) {
    seen.insert(seen.end(), batch.begin(), batch.end());
  });
  const NoThreads none;
  EXPECT_TRUE(thread.add(1));
  EXPECT_TRUE(thread.add(2));
  EXPECT_FALSE(thread.add(3));
  EXPECT_THAT(seen, ElementsAre());
  thread.finish();
  EXPECT_THAT(seen, ElementsAre(1, 2));
}

TEST(BatchThread, AThreadThatCanBeHadLaterWorksWhatHasWaited) {
  std::promise<std::size_t> worked;
  BatchThread<int> thread({.weight_max = 9, .gather = 0ns},
                          [&](const std::vector<int>& batch) { worked.set_value(batch.size()); });
  {
    const NoThreads none;
    EXPECT_TRUE(thread.add(1));
  }
  EXPECT_TRUE(thread.add(2));
  EXPECT_EQ(worked.get_future().get(), 2U);
}

}  // namespace
}  // namespace plimsoll::loop
