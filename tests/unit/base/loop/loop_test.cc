#include "base/loop/loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/may_wait.h"
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

TEST(Poster, ACallThatHoldsItIsDestroyedWithTheLoop) {
  std::optional<Loop> loop(std::move(*Loop::create()));
  const auto held = std::make_shared<int>();
  loop->poster()([held, poster = loop->poster()] { poster([held] {}); });
  EXPECT_EQ(held.use_count(), 2);
  loop.reset();
  EXPECT_EQ(held.use_count(), 1);
}

TEST(Poster, WhatIsPostedAfterTheLoopIsDestroyedUnrun) {
  std::optional<Loop> loop(std::move(*Loop::create()));
  const auto poster = loop->poster();
  loop.reset();
  bool has_run = false;
  const auto held = std::make_shared<int>();
  poster([held, poster, &has_run] { has_run = true; });
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_FALSE(has_run);
}

// One that posts when it is destroyed, as a client does that says good-bye.
TEST(Poster, ACallMayPostWhenItIsDestroyed) {
  std::optional<Loop> loop(std::move(*Loop::create()));
  const auto held = std::make_shared<int>();
  std::shared_ptr<void> last(nullptr,
                             [held, poster = loop->poster()](void*) { poster([held] {}); });
  loop->poster()([last = std::move(last)] {});
  loop.reset();
  EXPECT_EQ(held.use_count(), 1);
}

TEST(CpuTime, RisesWithWorkAlone) {
  const Duration before = cpu_time();
  volatile unsigned work = 0;
  while (cpu_time() == before) work = work + 1;
  EXPECT_GT(cpu_time(), before);
}

// In builds with assertions: what may wait says so, and is found where it must not.
TEST(MayWait, IsNotForATurnOfTheLoop) {
  may_wait("before");
  auto loop = Loop::create();
  ASSERT_TRUE(loop);
  bool ran = false;
  loop->poster()([&ran] { ran = true; });
  ASSERT_TRUE(loop->run_once({}));
  EXPECT_TRUE(ran);
  EXPECT_GT(loop->longest_turn(), Duration{});
  may_wait("between two turns");
#ifndef NDEBUG
  bool is_marked = false;
  loop->poster()([&is_marked] { is_marked = must_not_wait(); });
  ASSERT_TRUE(loop->run_once({}));
  EXPECT_TRUE(is_marked);
  EXPECT_FALSE(must_not_wait());
  const auto wait_in_a_turn = [] {
    const NoWaiting turn;
    may_wait("a call to somebody slow");
  };
  EXPECT_DEATH(wait_in_a_turn(), "a call to somebody slow may block");
#endif
}

}  // namespace
}  // namespace plimsoll::loop
