// Monitors on real groups: what wakes them, what does not, and what becomes of one whose group is
// gone. No test polls: whatever is noticed was told by the kernel.

#include <algorithm>
#include <csignal>

#include "kernel/counters/memory_files.h"
#include "kernel/counters/parse_memory.h"
#include "kernel/monitor/pool_events.h"
#include "kernel/monitor/pressure_trigger.h"
#include "kernel/monitor/usage_thresholds.h"
#include "kernel/monitor/watcher.h"
#include "support/host_test.h"

namespace plimsoll::monitor {
namespace {

using namespace std::chrono_literals;
using namespace plimsoll::literals;
using cgroup::Controller;
using cgroup::ControllerSet;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kPatience;
using ::testing::StartsWith;

const testing::Way kMemory{"Memory", true, ControllerSet(Controller::memory)};
constexpr Bytes kLine = 64_MiB;

class MonitorTest : public testing::HostTest, public MonitorOwner {
 protected:
  // False, and the reason, where memory is not on this version here; absent: either will do.
  bool set_up(std::optional<cgroup::Version> wanted = {}) {
    if (!prepare(kMemory)) return false;
    pool_.emplace(ground_->leaf("pool"));
    memory_ = pool_->of(Controller::memory);
    const bool is_v2 = memory_->version() == cgroup::Version::v2;
    if (wanted && *wanted != memory_->version()) {
      skipped_ = "memory is on the other version of cgroups here";
    } else if (is_v2 && !memory_->has_file("memory.events")) {
      skipped_ = "the root group gives no memory controller to its children";
    } else {
      auto loop = loop::Loop::create();
      if (!loop) return false;
      loop_.emplace(std::move(*loop));
      worker_.emplace(*loop_);
    }
    return skipped_.empty();
  }

  void wake() override { ++wakes_; }
  void failed(const Error& error) override { failed_ = error; }

  // Handles what comes until it holds; false after kPatience.
  bool comes_true(const std::function<bool()>& holds) {
    const Instant end = loop::now() + kPatience;
    while (!holds()) {
      if (loop::now() >= end) return false;
      if (!loop_->run_once(10ms)) return false;
    }
    return true;
  }
  // Handles whatever comes for so long.
  void pass(Duration time) {
    const Instant end = loop::now() + time;
    while (loop::now() < end) std::ignore = loop_->run_once(10ms);
  }

  void remove_pool() {
    for (const auto& part : ground_->inner().parts()) {
      EXPECT_TRUE(eventually([&] {
        const auto removed = part.directory.remove_child("pool");
        return removed || removed.error().gone();
      }));
    }
  }

  void end(const testing::Started& started) {
    ::kill(started.pid, SIGKILL);
    EXPECT_TRUE(testing::eventually([] { return !testing::has_children(); }));
  }

  void TearDown() override {
    worker_.reset();
    loop_.reset();
    pool_.reset();
    if (ground_) remove_pool();
    HostTest::TearDown();
  }

  static bool eventually(const std::function<bool()>& holds) { return testing::eventually(holds); }

  const cgroup::Directory* memory_ = nullptr;
  std::optional<cgroup::Leaf> pool_;
  std::optional<loop::Loop> loop_;
  std::optional<loop::Worker> worker_;
  int wakes_ = 0;
  std::optional<Error> failed_;
};

Reading empty_pool() {
  return {.at = loop::now(), .bounds = {kLine, {}}, .used = Bytes{}, .charged = Bytes{}};
}

#define SET_UP_OR_SKIP(version) \
  if (!set_up(version)) GTEST_SKIP() << skipped_

// By steps that stop between them, as nobody knows when this process gets to see it.
TEST_F(MonitorTest, ThresholdsWakeBelowTheLineAndAtIt) {
  SET_UP_OR_SKIP(cgroup::Version::v1);
  auto monitor = UsageThresholds::make(*loop_, *worker_, *memory_, *this);
  ASSERT_TRUE(monitor);
  Reading reading = empty_pool();
  reading.bounds.line = 256_MiB;
  std::ignore = (*monitor)->observe(reading);
  ASSERT_TRUE(comes_true([&] { return wakes_ == 1; })) << "they are not set";

  std::vector<testing::Started> hogs;
  const auto adds = [&](const std::string& mib, int wakes) {
    hogs.push_back(testing::start(*pool_, {"hog", mib}));
    ASSERT_TRUE(testing::wait_ready(hogs.back()));
    EXPECT_TRUE(comes_true([&] { return wakes_ == wakes; })) << wakes_;
    pass(50ms);
    EXPECT_EQ(wakes_, wakes) << "more than once";
  };
  {
    SCOPED_TRACE("more than an eighth of the line is left");
    ASSERT_NO_FATAL_FAILURE(adds("200", 1));
  }
  {
    SCOPED_TRACE("less than an eighth is");
    ASSERT_NO_FATAL_FAILURE(adds("40", 2));
  }
  {
    SCOPED_TRACE("none is");
    ASSERT_NO_FATAL_FAILURE(adds("40", 3));
  }
  EXPECT_FALSE(failed_);
  for (const auto& hog : hogs) ::kill(hog.pid, SIGKILL);
  EXPECT_TRUE(eventually([] { return !testing::has_children(); }));
  monitor->reset();
}

TEST_F(MonitorTest, WhatIsPastAThresholdAlreadyIsNoEvent) {
  SET_UP_OR_SKIP(cgroup::Version::v1);
  const auto hog = testing::start(*pool_, {"hog", "96"});
  ASSERT_TRUE(testing::wait_ready(hog));
  auto monitor = UsageThresholds::make(*loop_, *worker_, *memory_, *this);
  ASSERT_TRUE(monitor);
  std::ignore = (*monitor)->observe(empty_pool());
  ASSERT_TRUE(comes_true([&] { return wakes_ == 1; }));
  pass(100ms);
  EXPECT_EQ(wakes_, 1);
  end(hog);
  monitor->reset();
}

TEST_F(MonitorTest, AnotherLineMovesTheThresholds) {
  SET_UP_OR_SKIP(cgroup::Version::v1);
  auto monitor = UsageThresholds::make(*loop_, *worker_, *memory_, *this);
  ASSERT_TRUE(monitor);
  std::ignore = (*monitor)->observe(empty_pool());
  ASSERT_TRUE(comes_true([&] { return wakes_ == 1; }));
  Reading wider = empty_pool();
  wider.bounds.line = 256_MiB;
  std::ignore = (*monitor)->observe(wider);
  ASSERT_TRUE(comes_true([&] { return wakes_ == 2; }));
  const auto hog = testing::start(*pool_, {"hog", "96"});
  ASSERT_TRUE(testing::wait_ready(hog));
  pass(50ms);
  EXPECT_EQ(wakes_, 2) << "the old ones still stand";
  end(hog);
  monitor->reset();
}

TEST_F(MonitorTest, ThresholdsOfAPoolThatIsRemovedFail) {
  SET_UP_OR_SKIP(cgroup::Version::v1);
  auto monitor = UsageThresholds::make(*loop_, *worker_, *memory_, *this);
  ASSERT_TRUE(monitor);
  std::ignore = (*monitor)->observe(empty_pool());
  ASSERT_TRUE(comes_true([&] { return wakes_ == 1; }));
  remove_pool();
  ASSERT_TRUE(comes_true([&] { return failed_.has_value(); }));
  EXPECT_TRUE(failed_->gone()) << failed_->message();
  EXPECT_EQ(wakes_, 1);
  monitor->reset();
}

TEST_F(MonitorTest, AMonitorMayGoWhileItsThresholdsAreBeingSet) {
  SET_UP_OR_SKIP(cgroup::Version::v1);
  auto monitor = UsageThresholds::make(*loop_, *worker_, *memory_, *this);
  ASSERT_TRUE(monitor);
  std::ignore = (*monitor)->observe(empty_pool());
  monitor->reset();
  worker_->drain();
  pass(20ms);
  EXPECT_EQ(wakes_, 0);
}

TEST_F(MonitorTest, EventsOfThePoolWakeAndOldOnesDoNot) {
  SET_UP_OR_SKIP(cgroup::Version::v2);
  ASSERT_TRUE(memory_->write("memory.high", std::to_string(kLine.count)));
  const auto old = testing::start(*pool_, {"hog", "72"});
  ASSERT_TRUE(eventually(
      [&] { return counters::parse_memory_events(*memory_->read("memory.events")).high > 0u; }));
  end(old);
  auto monitor = PoolEvents::make(*loop_, *memory_, *this);
  ASSERT_TRUE(monitor);
  pass(100ms);
  EXPECT_EQ(wakes_, 0) << "what was counted before";

  const auto hog = testing::start(*pool_, {"hog", "72"});
  ASSERT_TRUE(comes_true([&] { return wakes_ > 0; }));
  Reading reading = empty_pool();
  reading.used = kLine;
  const auto alarm = (*monitor)->observe(reading);
  ASSERT_TRUE(alarm);
  EXPECT_EQ(alarm->monitor, "event");
  EXPECT_FALSE(failed_);
  end(hog);
  monitor->reset();
}

TEST_F(MonitorTest, EventsOfAPoolThatIsRemovedFail) {
  SET_UP_OR_SKIP(cgroup::Version::v2);
  auto monitor = PoolEvents::make(*loop_, *memory_, *this);
  ASSERT_TRUE(monitor);
  remove_pool();
  Reading nothing;
  nothing.bounds.line = kLine;
  EXPECT_FALSE((*monitor)->observe(nothing));
  ASSERT_TRUE(failed_);
  EXPECT_TRUE(failed_->gone()) << failed_->message();
  failed_.reset();
  std::ignore = (*monitor)->observe(nothing);
  EXPECT_FALSE(failed_) << "told twice";
  monitor->reset();
}

TEST_F(MonitorTest, ATriggerOfThePoolFires) {
  SET_UP_OR_SKIP(cgroup::Version::v2);
  auto monitor = PressureTrigger::make(*loop_, *pool_->v2(), *this);
  if (!monitor) GTEST_SKIP() << monitor.error().message();
  ASSERT_TRUE(memory_->write("memory.high", std::to_string(kLine.count)));
  const auto hog = testing::start(*pool_, {"hog", "96"});
  ASSERT_TRUE(comes_true([&] { return wakes_ > 0; }));
  EXPECT_TRUE((*monitor)->observe(empty_pool()));
  end(hog);
  monitor->reset();
}

// The whole, as an owner has it; on whichever version memory is.
class WatcherTest : public MonitorTest, public WatcherHost {
 protected:
  void watch() {
    files_.emplace(*pool_);
    watcher_.emplace(Surroundings{*loop_, *worker_, *pool_}, *this);
    watcher_->start();
  }
  Reading look() override {
    counters::MemoryUsage usage;
    files_->read(counters::Level::full, usage, buffer_);
    return {.at = loop::now(), .bounds = {kLine, {}}, .used = usage.used, .charged = usage.current};
  }
  void on_memory_alarm(const Alarm& alarm) override { alarms_.push_back(alarm); }
  void decide(Cause cause) override { causes_.push_back(cause); }
  void on_weakened(const Status& status) override { weak_.push_back(status); }
  void TearDown() override {
    watcher_.reset();
    files_.reset();
    MonitorTest::TearDown();
  }

  std::optional<counters::MemoryFiles> files_;
  std::string buffer_;
  std::optional<Watcher> watcher_;
  std::vector<Alarm> alarms_;
  std::vector<Cause> causes_;
  std::vector<Status> weak_;
};

TEST_F(WatcherTest, SaysWhoWatchesAndWhy) {
  SET_UP_OR_SKIP({});
  watch();
  const auto status = watcher_->status();
  ASSERT_EQ(status.size(), 3u);
  EXPECT_EQ(status[0].name, "event");
  EXPECT_EQ(status[0].health, "working");
  EXPECT_EQ(status[1].name, "pressure");
  EXPECT_EQ(status[2].name, "threshold");
  for (const Status& one : status) EXPECT_NE(one.why, "") << one.name;
}

TEST_F(WatcherTest, AnAllocatorThatPassesTheLineIsToldOnce) {
  SET_UP_OR_SKIP({});
  watch();
  const auto hog = testing::start(*pool_, {"hog", "128", "400"});
  ASSERT_TRUE(comes_true([&] { return !alarms_.empty(); }));
  EXPECT_EQ(alarms_.front().monitor, "threshold");
  ASSERT_TRUE(testing::wait_ready(hog));
  EXPECT_TRUE(comes_true([&] { return std::ranges::count(causes_, Cause::poll) > 0; }));
  pass(50ms);
  EXPECT_EQ(alarms_.size(), 1u);
  EXPECT_THAT(weak_, IsEmpty());
  end(hog);
}

TEST_F(WatcherTest, AStoppedOneDoesNotLook) {
  SET_UP_OR_SKIP({});
  watch();
  ASSERT_TRUE(comes_true([&] { return watcher_->samples() > 0; }));
  watcher_->stop();
  worker_->drain();
  const auto samples = watcher_->samples();
  pass(20ms);
  EXPECT_EQ(watcher_->samples(), samples);
  watcher_->start();
  EXPECT_TRUE(comes_true([&] { return watcher_->samples() > samples; }));
}

TEST_F(WatcherTest, AMonitorThatFailsIsReplacedByLooksAndSaysSo) {
  SET_UP_OR_SKIP({});
  watch();
  ASSERT_TRUE(comes_true([&] { return watcher_->samples() > 2; }));
  remove_pool();
  ASSERT_TRUE(comes_true([&] { return !watcher_->status()[0].works; }));
  EXPECT_THAT(watcher_->status()[0].health, StartsWith("failed: "));
  EXPECT_THAT(weak_, Contains(Field(&Status::name, "event")));
  const auto samples = watcher_->samples();
  EXPECT_TRUE(comes_true([&] { return watcher_->samples() > samples + 2; }));
  EXPECT_THAT(watcher_->status()[2].health, StartsWith("replaced: "));
}

// Where the kernel takes no fast trigger, the totals stand in, and the reason is told.
TEST_F(WatcherTest, WithoutATriggerThereAreTotals) {
  SET_UP_OR_SKIP({});
  auto trigger = PressureTrigger::make(*loop_, *pool_->v2(), *this);
  watch();
  const Status pressure = watcher_->status()[1];
  if (trigger) {
    EXPECT_THAT(pressure.why, HasSubstr("kernel watches"));
  } else if (pressure.works) {
    EXPECT_THAT(pressure.why, StartsWith("totals of "));
    EXPECT_THAT(pressure.why, HasSubstr("trigger"));
  } else {
    EXPECT_THAT(pressure.health, StartsWith("missing: "));
  }
  if (trigger) trigger->reset();
}

}  // namespace
}  // namespace plimsoll::monitor
