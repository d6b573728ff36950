#include "supervisor/disk_watch.h"

#include <gtest/gtest.h>

#include <optional>

#include "base/loop/loop.h"

namespace plimsoll::supervisor {
namespace {

// Of the loop's own clock.
class LoopClock : public loop::Clock {
 public:
  explicit LoopClock(loop::Loop& loop) : loop_(loop) {}
  [[nodiscard]] Instant now() const override { return loop::now(); }
  [[nodiscard]] std::unique_ptr<Timer> timer(std::function<void()> callback) override {
    return std::make_unique<LoopTimer>(loop_.timer(std::move(callback)));
  }

 private:
  struct LoopTimer : Timer {
    explicit LoopTimer(loop::Timer made) : timer(std::move(made)) {}
    void set(Instant when) override { timer.set(when); }
    void off() override { timer.off(); }
    loop::Timer timer;
  };
  loop::Loop& loop_;
};

struct DiskWatchTest : testing::Test {
  // Until so many looks were told.
  void await(std::size_t count) {
    const Instant deadline = loop::now() + std::chrono::seconds(30);
    while (told.size() < count && loop::now() < deadline) {
      ASSERT_TRUE(loop.run_once(std::chrono::seconds(1)));
    }
  }

  loop::Loop loop = std::move(*loop::Loop::create());
  LoopClock clock{loop};
  std::vector<policy::DiskSample> told;
  DiskWatch watch{clock,
                  loop,
                  {"/", "/does/not/exist"},
                  std::chrono::milliseconds(5),
                  [this](const policy::DiskSample& sample) { told.push_back(sample); }};
};

TEST_F(DiskWatchTest, FirstLookIsThereAtOnce) {
  const policy::DiskSample first = watch.look();
  ASSERT_EQ(first.free.size(), 2u);
  EXPECT_TRUE(first.free[0]);
  EXPECT_FALSE(first.free[1]) << "what is not there is not known";
}

TEST_F(DiskWatchTest, LooksFollowUntilItIsStopped) {
  watch.start();
  await(3);
  ASSERT_GE(told.size(), 3u);
  EXPECT_TRUE(told.back().free[0]);
  watch.stop();
  const std::size_t before = told.size();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(loop.run_once(std::chrono::milliseconds(10)));
  EXPECT_EQ(told.size(), before);
}

// Of which it is known when a look is due.
class NotedClock : public loop::Clock {
 public:
  [[nodiscard]] Instant now() const override { return at; }
  [[nodiscard]] std::unique_ptr<Timer> timer(std::function<void()> /*callback*/) override {
    return std::make_unique<NotedTimer>(due);
  }
  Instant at{};
  std::optional<Instant> due;

 private:
  struct NotedTimer : Timer {
    explicit NotedTimer(std::optional<Instant>& noted) : when_due(noted) {}
    void set(Instant when) override { when_due = when; }
    void off() override { when_due.reset(); }
    std::optional<Instant>& when_due;
  };
};

TEST_F(DiskWatchTest, WhileItRestsLooksAreFew) {
  NotedClock noted;
  DiskWatch one(noted, loop, {"/"}, std::chrono::milliseconds(5), {});
  one.rest();
  EXPECT_EQ(noted.due, Instant(DiskWatch::kRest));
  one.start();
  EXPECT_EQ(noted.due, Instant(std::chrono::milliseconds(5)));
  one.rest();
  EXPECT_EQ(noted.due, Instant(DiskWatch::kRest));
  noted.at += std::chrono::seconds(1);
  one.start();
  EXPECT_EQ(noted.due, noted.at) << "what was seen last is old";
  one.stop();
  EXPECT_EQ(noted.due, std::nullopt);
}

TEST_F(DiskWatchTest, ALookCanBeHadSooner) {
  std::vector<Instant> looks;
  DiskWatch seldom(clock, loop, {"/"}, std::chrono::hours(1),
                   [&](const policy::DiskSample&) { looks.push_back(loop::now()); });
  seldom.look_soon();
  ASSERT_TRUE(loop.run_once(std::chrono::milliseconds(10)));
  EXPECT_TRUE(looks.empty()) << "it is not started";
  seldom.start();
  const Instant deadline = loop::now() + std::chrono::seconds(30);
  while (looks.size() < 3 && loop::now() < deadline) {
    seldom.look_soon();
    ASSERT_TRUE(loop.run_once(std::chrono::milliseconds(1)));
  }
  ASSERT_EQ(looks.size(), 3u);
  // Asked for again and again, and not oftener than that; the answers may be late.
  EXPECT_GE(looks[2] - looks[0], DiskWatch::kSoonGap);
}

}  // namespace
}  // namespace plimsoll::supervisor
