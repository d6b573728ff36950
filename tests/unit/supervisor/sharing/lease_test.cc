#include "supervisor/sharing/lease.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "base/file.h"

namespace plimsoll::supervisor {
namespace {

using namespace plimsoll::literals;

class LeaseTest : public ::testing::Test {
 protected:
  LeaseTest() : loop_(*loop::Loop::create()) {
    std::string name = ::testing::TempDir() + "leaseXXXXXX";
    directory_ = ::mkdtemp(name.data());
  }
  ~LeaseTest() override { std::filesystem::remove_all(directory_); }

  struct Party : LeaseHolder {
    [[nodiscard]] policy::RunClaim claim() const override {
      ++asked;
      return claims;
    }
    void on_share(const policy::Share& /*share*/, std::string why) override {
      reason = std::move(why);
    }
    policy::RunClaim claims{};
    mutable std::size_t asked = 0;
    std::string reason{};
    std::unique_ptr<Lease> lease{};
  };

  void join(Party& party, const std::string& name, policy::Share whole, LeaseRole role) {
    auto ledger = Ledger::join(open_at(AT_FDCWD, directory_, O_RDONLY | O_DIRECTORY), name);
    ASSERT_TRUE(ledger) << ledger.error().message();
    party.lease = std::make_unique<Lease>(loop_, std::move(*ledger), whole, role, party);
  }

  // Looks, later than what was told before by so much as the dates of files can tell apart.
  void answer(const Party& party, const std::string& name) const {
    const std::string file = directory_ + "/" + name;
    const auto before = newest();
    do {
      party.lease->settle();
    } while (std::filesystem::last_write_time(file) <= before);
  }

  loop::Loop loop_;
  std::string directory_;

 private:
  [[nodiscard]] std::filesystem::file_time_type newest() const {
    auto newest = std::filesystem::file_time_type::min();
    for (const auto& file : std::filesystem::directory_iterator(directory_)) {
      newest = std::max(newest, file.last_write_time());
    }
    return newest;
  }
};

TEST_F(LeaseTest, ARunAloneHasItsWhole) {
  Party run;
  join(run, "run", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  EXPECT_EQ(run.lease->share().line, 8_GiB);
  EXPECT_EQ(run.lease->share().cores, 4);
  EXPECT_EQ(run.reason, "");
}

TEST_F(LeaseTest, TheDaemonsTermsHoldAsFarAsTheyAreNotMore) {
  Party daemon, run;
  join(daemon, "daemon", {.line = 2_GiB, .cores = 64}, LeaseRole::daemon);
  join(run, "run", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  EXPECT_EQ(run.lease->share().line, 2_GiB);
  EXPECT_EQ(run.lease->share().cores, 4);
  EXPECT_EQ(run.reason, "the line is shared with the daemon");
  EXPECT_EQ(daemon.lease->share().line, 2_GiB);
}

// What is claimed is a sum over all jobs.
TEST_F(LeaseTest, ALookAsksOnceWhatIsClaimed) {
  Party run, other;
  join(run, "run", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  join(other, "other", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  run.lease->settle();
  ASSERT_TRUE(run.lease->is_shared());
  const std::size_t before = run.asked;
  run.lease->settle();
  EXPECT_EQ(run.asked, before + 1);
  const std::size_t settled = run.asked;
  const Instant deadline = loop::now() + std::chrono::seconds(30);
  while (run.asked == settled && loop::now() < deadline) {
    ASSERT_TRUE(loop_.run_once(std::chrono::seconds(1)));
  }
  EXPECT_EQ(run.asked, settled + 1) << "in the turn in which it looks";
}

TEST_F(LeaseTest, TheDaemonIsNotCountedAsARun) {
  Party daemon, first, second;
  join(daemon, "daemon", {.line = 2_GiB, .cores = 4}, LeaseRole::daemon);
  first.claims.memory = {.used = 1_GiB, .claimed = 1_GiB, .wanting = true};
  join(first, "first", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  join(second, "second", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  EXPECT_EQ(second.reason, "the line is shared with the daemon and 1 other run");
}

TEST_F(LeaseTest, WhatIsLeasedOutlivesTheDaemon) {
  Party daemon, run;
  join(daemon, "daemon", {.line = 2_GiB, .cores = 2}, LeaseRole::daemon);
  join(run, "run", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  daemon.lease.reset();
  run.lease->settle();
  EXPECT_EQ(run.lease->share().line, 2_GiB);
  EXPECT_EQ(run.lease->share().cores, 2);
  // A new daemon knows at once what is claimed.
  run.claims = {
      .memory = {.used = 1_GiB, .claimed = 1_GiB, .wanting = false}, .cores = {}, .running = 2};
  run.lease->settle();
  join(daemon, "again", {.line = 2_GiB, .cores = 2}, LeaseRole::daemon);
  EXPECT_EQ(daemon.lease->share().line, 1_GiB);
}

TEST_F(LeaseTest, TheDaemonKnowsWhatAllRunsTogetherHave) {
  Party daemon, first, second;
  join(daemon, "daemon", {.line = 8_GiB, .cores = 4}, LeaseRole::daemon);
  EXPECT_EQ(daemon.lease->others().runs, 0u);
  first.claims = {.memory = {.used = 1_GiB, .claimed = 2_GiB, .wanting = false},
                  .cores = {.used = 0.5, .claimed = 1, .wanting = false},
                  .running = 2};
  second.claims = {.memory = {.used = 1_GiB, .claimed = 1_GiB, .wanting = true},
                   .cores = {.used = 1, .claimed = 1, .wanting = false},
                   .running = 1};
  join(first, "first", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  join(second, "second", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  daemon.lease->settle();
  const Others& others = daemon.lease->others();
  EXPECT_EQ(others.runs, 2u);
  EXPECT_EQ(others.jobs, 3u);
  EXPECT_EQ(others.used, 2_GiB);
  EXPECT_EQ(others.claimed, 3_GiB);
  EXPECT_EQ(others.cores_used, 1.5);
}

TEST_F(LeaseTest, TheDaemonMayMoveItsLine) {
  Party daemon, run;
  join(daemon, "daemon", {.line = 2_GiB, .cores = 2}, LeaseRole::daemon);
  join(run, "run", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  daemon.lease->settle();
  daemon.lease->set_line(3_GiB, "the configuration has another line");
  EXPECT_EQ(daemon.reason,
            "the configuration has another line; the line is shared with 1 other run");
  // It is told by a thread, while the loop runs.
  const std::uint64_t looks = daemon.lease->looks();
  while (daemon.lease->looks() == looks) ASSERT_TRUE(loop_.run_once(Lease::kInterval));
  run.lease->settle();
  EXPECT_EQ(run.lease->share().line, 3_GiB);
}

TEST_F(LeaseTest, AnotherLineByTheUserIsToldAsSuch) {
  Party run;
  join(run, "run", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  run.lease->set_line(2_GiB, "the user has set the line to 2.00 GiB");
  EXPECT_EQ(run.lease->share().line, 2_GiB);
  EXPECT_EQ(run.lease->shared().line, 2_GiB);
  EXPECT_EQ(run.reason, "the user has set the line to 2.00 GiB");
  run.reason.clear();
  run.lease->settle();
  EXPECT_EQ(run.reason, "");
  run.lease->set_line(2_GiB + 1_KiB, "a little more");
  EXPECT_EQ(run.reason, "a little more");
}

TEST_F(LeaseTest, WhatIsSharedIsNotWhatOneHas) {
  Party run, other;
  join(other, "other", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  other.claims = {
      .memory = {.used = 2_GiB, .claimed = 2_GiB, .wanting = false}, .cores = {}, .running = 2};
  other.lease->settle();
  join(run, "run", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  EXPECT_EQ(run.lease->share().line, 6_GiB);
  EXPECT_EQ(run.lease->shared().line, 8_GiB);
}

TEST_F(LeaseTest, WhoJoinsOthersStartsNothingUntilTheyHaveHeardOfIt) {
  Party other, run;
  join(other, "other", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  EXPECT_EQ(other.lease->share().taken, Bytes{});
  join(run, "run", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  EXPECT_EQ(run.lease->share().taken, 8_GiB);
  run.lease->settle();
  EXPECT_EQ(run.lease->share().taken, 8_GiB);
  answer(other, "other");
  run.lease->settle();
  EXPECT_EQ(run.lease->share().taken, 8_GiB) << "it may not plan with it yet";
  run.lease->settle();
  EXPECT_EQ(run.lease->share().taken, Bytes{});
  EXPECT_EQ(run.lease->share().line, 8_GiB);
}

TEST_F(LeaseTest, WhoJoinsOthersIsHeardByEachOfThem) {
  Party first, second, run;
  join(first, "first", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  join(second, "second", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  join(run, "run", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  answer(second, "second");
  run.lease->settle();
  run.lease->settle();
  EXPECT_TRUE(run.lease->is_news());
  answer(first, "first");
  run.lease->settle();
  run.lease->settle();
  EXPECT_FALSE(run.lease->is_news());
}

TEST_F(LeaseTest, ADateThatIsStillToComeTellsNothing) {
  Party other, run;
  join(other, "other", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  const std::string file = directory_ + "/other";
  std::filesystem::last_write_time(file,
                                   std::filesystem::last_write_time(file) + std::chrono::hours(1));
  join(run, "run", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  run.lease->settle();
  run.lease->settle();
  EXPECT_TRUE(run.lease->is_news());
}

// They are woken. On a busy machine that may take longer, but not each time.
TEST_F(LeaseTest, WhoJoinsOthersIsHeardSoon) {
  Party other;
  join(other, "other", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  bool is_soon = false;
  for (int tries = 0; tries < 100 && !is_soon; ++tries) {
    Party run;
    const Instant begun = loop::now();
    join(run, "run" + std::to_string(tries), {.line = 8_GiB, .cores = 4}, LeaseRole::run);
    EXPECT_TRUE(run.lease->is_news());
    while (run.lease->is_news()) ASSERT_TRUE(loop_.run_once(Lease::kInterval));
    is_soon = loop::now() - begun < Lease::kInterval / 4;
  }
  EXPECT_TRUE(is_soon);
}

// One that is stopped, say, answers nobody.
TEST_F(LeaseTest, WhoIsNotHeardWaitsNoLongerThanUntilTheNextLookOfTheOthers) {
  Party run;
  const auto stopped = Ledger::join(open_at(AT_FDCWD, directory_, O_RDONLY | O_DIRECTORY), "other");
  ASSERT_TRUE(stopped) << stopped.error().message();
  const Instant begun = loop::now();
  join(run, "run", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  while (run.lease->is_news()) ASSERT_TRUE(loop_.run_once(Lease::kInterval));
  EXPECT_GE(loop::now() - begun, Lease::kInterval);
}

// A run that waits only until it is known has nobody give way.
TEST_F(LeaseTest, WhoIsNewWantsNothingYet) {
  Party other, run;
  other.claims = {
      .memory = {.used = 6_GiB, .claimed = 7_GiB, .wanting = false}, .cores = {}, .running = 9};
  join(other, "other", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  join(run, "run", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  run.claims.memory.wanting = true;
  run.lease->settle();
  other.lease->settle();
  EXPECT_EQ(other.lease->share().line, 8_GiB);
  answer(other, "other");
  for (int looks = 0; looks < 3; ++looks) run.lease->settle();
  other.lease->settle();
  EXPECT_EQ(other.lease->share().line, 6_GiB);
}

// The directory is others': reading it, and writing there, is not for the loop's thread, which a
// build with assertions sees to.
TEST_F(LeaseTest, TheLoopLooksWithoutWaiting) {
  Party run, other;
  join(run, "run", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  join(other, "other", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  other.claims = {
      .memory = {.used = 6_GiB, .claimed = 6_GiB, .wanting = false}, .cores = {}, .running = 2};
  while (run.lease->share().line != 2_GiB) ASSERT_TRUE(loop_.run_once(Lease::kInterval));
}

// What comes back when it is gone is nobody's.
TEST_F(LeaseTest, MayEndWhileItLooks) {
  Party run;
  join(run, "run", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  run.lease->has_grown();
  ASSERT_TRUE(loop_.run_once(Lease::kInterval));
  run.lease.reset();
  ASSERT_TRUE(loop_.run_once(Lease::kSoon));
}

TEST_F(LeaseTest, WhatHasGrownIsToldSoon) {
  Party run, other;
  join(run, "run", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  run.claims = {
      .memory = {.used = 6_GiB, .claimed = 6_GiB, .wanting = false}, .cores = {}, .running = 2};
  // On a busy machine it may take as long as until the next look, but not each time.
  bool is_soon = false;
  for (int tries = 0; tries < 100 && !is_soon; ++tries) {
    const std::uint64_t looks = run.lease->looks();
    const Instant begun = loop::now();
    for (int starts = 0; starts < 100; ++starts) run.lease->has_grown();
    while (run.lease->looks() == looks) ASSERT_TRUE(loop_.run_once(Lease::kInterval));
    is_soon = loop::now() - begun < Lease::kInterval / 2;
    EXPECT_EQ(run.lease->looks(), looks + 1);
  }
  EXPECT_TRUE(is_soon);
  join(other, "other", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  EXPECT_EQ(other.lease->share().line, 2_GiB);
}

// Long before their own next look; on a busy machine not each time.
TEST_F(LeaseTest, WhatIsWorthItIsHeardByOthersSoon) {
  Party run, other;
  join(run, "run", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  join(other, "other", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  const auto leaves = [&](Bytes left) {
    while (other.lease->share().line != left) ASSERT_TRUE(loop_.run_once(Lease::kInterval));
  };
  bool is_soon = false;
  for (int tries = 0; tries < 100 && !is_soon; ++tries) {
    run.claims.memory.claimed = {};
    leaves(8_GiB);
    const Instant begun = loop::now();
    run.claims.memory.claimed = 2_GiB;
    run.lease->has_grown();
    leaves(6_GiB);
    is_soon = loop::now() - begun < Lease::kInterval / 4;
  }
  EXPECT_TRUE(is_soon);
}

}  // namespace
}  // namespace plimsoll::supervisor
