#include "loop/loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <array>
#include <vector>

#include "base/unique_fd.h"

namespace plimsoll::loop {
namespace {

// Several sources that are ready at the same time, each of which says its number.
class LoopTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (std::size_t i = 0; i < kSources; ++i) {
      events_[i] = UniqueFd(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
      auto watch = loop_.watch(events_[i].get(), EPOLLIN, [this, i](std::uint32_t) {
        said_.push_back(i);
        watches_[i].wait_for(0);
      });
      ASSERT_TRUE(watch);
      watches_[i] = std::move(*watch);
    }
  }
  static constexpr std::size_t kSources = 5;
  Loop loop_ = std::move(*Loop::create());
  std::array<UniqueFd, kSources> events_;
  std::array<Watch, kSources> watches_;
  std::vector<std::size_t> said_;
};

TEST_F(LoopTest, WhatGoesFirstWaitsBehindNobody) {
  watches_[3].go_first();
  Timer timer = loop_.timer([this] { said_.push_back(99); });
  timer.set(Instant{});
  timer.go_first();
  for (int turn = 0; turn < 2; ++turn) ASSERT_TRUE(loop_.run_once(Duration{}));
  EXPECT_THAT(said_, ::testing::UnorderedElementsAre(3, 99));
}

TEST_F(LoopTest, EverySourceHasItsTurn) {
  watches_[3].go_first();
  for (std::size_t turn = 0; turn < kSources; ++turn) ASSERT_TRUE(loop_.run_once(Duration{}));
  EXPECT_EQ(said_.size(), kSources);
  EXPECT_EQ(said_.front(), 3u);
}

TEST(CpuTime, RisesWithWorkAlone) {
  const Duration before = cpu_time();
  volatile unsigned work = 0;
  while (cpu_time() == before) work = work + 1;
  EXPECT_GT(cpu_time(), before);
}

}  // namespace
}  // namespace plimsoll::loop
