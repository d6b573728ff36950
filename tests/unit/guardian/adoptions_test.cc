#include "guardian/adoptions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace plimsoll::guardian {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ChildId kOne{1}, kTwo{2};
constexpr const char* kAside = "/aside";

// A machine with processes that came to the guardian. Those that are killed end at once, unless
// they can't.
struct FakeHost : AdoptionHost {
  void comes(pid_t pid, AdoptedChild about) {
    about.comm = "p" + std::to_string(pid);
    about.start = 100;
    children[pid] = std::move(about);
  }
  std::vector<pid_t> new_children() override {
    std::vector<pid_t> pids;
    for (const auto& [pid, about] : children) {
      if (listed.insert(pid).second) pids.push_back(pid);
    }
    now += list_takes;
    return pids;
  }
  void ended(pid_t child) override { listed.erase(child); }
  std::optional<uid_t> user_of(pid_t pid) override {
    const auto found = children.find(pid);
    return found == children.end() ? std::nullopt : std::optional(found->second.user);
  }
  std::optional<AdoptedChild> read(pid_t pid) override {
    ++reads;
    now += read_takes;
    const auto found = children.find(pid);
    return found == children.end() ? std::nullopt : std::optional(found->second);
  }
  std::string name_of(pid_t pid) override {
    ++asked;
    return names[pid];
  }
  std::vector<procfs::Id> descendants_of(pid_t pid) override { return below[pid]; }
  bool kill(pid_t pid) override {
    if (std::ranges::find(forbidden, pid) != forbidden.end()) return false;
    killed.push_back(pid);
    now += kill_takes;
    if (std::ranges::find(immortal, pid) != immortal.end()) return true;
    children.erase(pid);
    for (const procfs::Id& child : below[pid]) comes(child.pid, {.groups = {kAside}});
    dead.push_back(pid);
    return true;
  }
  Instant time_now() override { return now; }
  uid_t user() override { return 0; }

  Instant now{};
  std::map<pid_t, AdoptedChild> children;
  std::set<pid_t> listed;
  std::map<pid_t, std::string> names;
  std::size_t asked = 0;  // for their names
  std::map<pid_t, std::vector<procfs::Id>> below;
  std::vector<pid_t> killed, dead, immortal, forbidden;
  std::size_t reads = 0;
  Duration kill_takes{}, list_takes{}, read_takes{};
};

struct AdoptionsTest : ::testing::Test, FakeHost {
  AdoptionsTest() {
    adoptions.began(kOne, {.main = 10, .user = 0, .group = group(1), .name = "a"});
    adoptions.began(kTwo, {.main = 20, .user = 0, .group = group(2), .name = "b"});
  }

  static std::string group(int job) { return "/plimsoll-run/pool/job-" + std::to_string(job); }

  // A child of the guardian's ends, and others come to it.
  void ends(pid_t pid) {
    children.erase(pid);
    adoptions.ended(pid);
    adoptions.look({});
  }
  // As the guardian does until it has nothing more to do.
  std::vector<Escaped> turns() {
    std::vector<Escaped> all;
    for (int i = 0; i < 20; ++i) {
      for (const pid_t pid : std::exchange(dead, {})) adoptions.ended(pid);
      adoptions.look({});
      for (Escaped& one : adoptions.settle()) all.push_back(std::move(one));
      now += 10ms;
    }
    return all;
  }

  // One that is killed at its job's end has a child, and that has one.
  void expect_all_below_are_killed() {
    comes(11, {.session = 10, .groups = {kAside}});
    below[11] = {{.pid = 12, .start = 100}};
    below[12] = {{.pid = 13, .start = 100}};
    ends(10);
    EXPECT_TRUE(adoptions.main_ended(kOne));
    adoptions.over(kOne);
    const auto told = turns();
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0].processes.size(), 3u);
    EXPECT_THAT(killed, ElementsAre(11, 12, 13));
  }

  Adoptions adoptions{*this};
};

TEST_F(AdoptionsTest, AJobThatLeavesNobodyIsOverAtOnce) {
  ends(10);
  EXPECT_FALSE(adoptions.main_ended(kOne));
  EXPECT_EQ(reads, 0u);
  EXPECT_EQ(adoptions.next_turn(), std::nullopt);
}

TEST_F(AdoptionsTest, WhoWasSeenInTheGroupAndHasLeftItEndsWithItsJob) {
  comes(11, {.groups = {"/x" + group(1) + "/sub"}});
  comes(21, {.groups = {"/x" + group(2)}});
  ends(10);
  EXPECT_TRUE(adoptions.main_ended(kOne));
  children[11].groups = {kAside};
  adoptions.over(kOne);
  const auto told = turns();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].id, kOne);
  ASSERT_EQ(told[0].processes.size(), 1u);
  EXPECT_EQ(told[0].processes[0].pid, 11);
  EXPECT_EQ(told[0].processes[0].comm, "p11");
  EXPECT_FALSE(told[0].processes[0].lives);
  EXPECT_THAT(killed, ElementsAre(11));
}

TEST_F(AdoptionsTest, WhoDiesWithItsGroupIsNotTold) {
  comes(11, {.groups = {"/x" + group(1)}});
  ends(10);
  EXPECT_TRUE(adoptions.main_ended(kOne));
  adoptions.over(kOne);
  const auto told = turns();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_THAT(told[0].processes, IsEmpty());
}

TEST_F(AdoptionsTest, SessionsAndNamesTellToo) {
  comes(11, {.session = 10, .groups = {kAside}});
  comes(12, {.groups = {kAside}});
  comes(22, {.groups = {kAside}});
  names = {{12, "a"}, {22, "b"}};
  ends(10);
  EXPECT_TRUE(adoptions.main_ended(kOne));
  adoptions.over(kOne);
  EXPECT_EQ(turns().size(), 1u);
  EXPECT_THAT(killed, ::testing::UnorderedElementsAre(11, 12));
}

TEST_F(AdoptionsTest, OfTwoJobsOfANameNeitherIsToldByIt) {
  adoptions.began(ChildId{3}, {.main = 30, .user = 0, .group = group(3), .name = "a"});
  comes(12, {.groups = {kAside}});
  names = {{12, "a"}};
  ends(30);
  EXPECT_TRUE(adoptions.main_ended(ChildId{3}));
  adoptions.over(ChildId{3});
  (void)turns();
  EXPECT_THAT(killed, IsEmpty());
}

// Anybody can give his job the name of another's, in the hope of its processes.
TEST_F(AdoptionsTest, AnotherUsersJobTakesNobodysProcessesByItsName) {
  adoptions.began(ChildId{3}, {.main = 30, .user = 7, .group = group(3), .name = "a"});
  comes(12, {.groups = {kAside}});
  comes(31, {.user = 7, .groups = {kAside}});
  names = {{12, "a"}, {31, "b"}};
  ends(30);
  EXPECT_TRUE(adoptions.main_ended(ChildId{3}));
  adoptions.over(ChildId{3});
  const auto told = turns();
  EXPECT_THAT(killed, IsEmpty()) << "31 may be of one of ours, which can become anybody";
  EXPECT_EQ(asked, 1u) << "of strangers' processes nothing is read that may wait";
  ends(10);
  EXPECT_TRUE(adoptions.main_ended(kOne));
  adoptions.over(kOne);
  (void)turns();
  EXPECT_THAT(killed, ElementsAre(12));
}

TEST_F(AdoptionsTest, AnotherUsersSessionIsNoProof) {
  adoptions.began(ChildId{3}, {.main = 30, .user = 7, .group = group(3), .name = {}});
  comes(12, {.session = 30, .groups = {kAside}});
  ends(30);
  (void)adoptions.main_ended(ChildId{3});
  adoptions.over(ChildId{3});
  (void)turns();
  EXPECT_THAT(killed, IsEmpty());
}

TEST_F(AdoptionsTest, WhoCanNotBeToldEndsWithTheLastThatMayHaveMadeIt) {
  comes(11, {.groups = {kAside}});
  ends(10);
  EXPECT_TRUE(adoptions.main_ended(kOne));
  adoptions.over(kOne);
  EXPECT_EQ(turns().size(), 1u);
  EXPECT_THAT(killed, IsEmpty());
  // One that began later has not.
  adoptions.began(ChildId{3}, {.main = 30, .user = 0, .group = group(3), .name = "c"});
  ends(20);
  EXPECT_TRUE(adoptions.main_ended(kTwo));
  adoptions.over(kTwo);
  EXPECT_EQ(turns().size(), 1u);
  EXPECT_THAT(killed, ElementsAre(11));
  const auto strays = adoptions.take_strays();
  ASSERT_EQ(strays.size(), 1u);
  EXPECT_EQ(strays[0].pid, 11);
}

TEST_F(AdoptionsTest, OfAnotherUserOnlyHisJobsAndOurOwnCanHaveMadeIt) {
  adoptions.began(ChildId{3}, {.main = 30, .user = 7, .group = group(3), .name = "c"});
  adoptions.began(ChildId{4}, {.main = 40, .user = 8, .group = group(4), .name = "d"});
  for (const pid_t main : {10, 20}) ends(main);
  EXPECT_FALSE(adoptions.main_ended(kOne) || adoptions.main_ended(kTwo));
  comes(31, {.user = 7, .groups = {kAside}});
  ends(30);
  EXPECT_TRUE(adoptions.main_ended(ChildId{3}));
  adoptions.over(ChildId{3});
  const auto told = turns();
  ASSERT_EQ(told.size(), 1u);
  ASSERT_EQ(told[0].processes.size(), 1u);
  EXPECT_EQ(told[0].processes[0].pid, 31);
}

TEST_F(AdoptionsTest, WhatAKilledOneHadBelowItIsKilledToo) { expect_all_below_are_killed(); }

TEST_F(AdoptionsTest, WhatAKilledOneHadBelowItIsWaitedForUntilTheNextLook) {
  kill_takes = 5ms;  // the next look is due later than the next turn
  expect_all_below_are_killed();
}

TEST_F(AdoptionsTest, WhoDoesNotDieIsToldInTime) {
  comes(11, {.session = 10, .groups = {kAside}});
  comes(12, {.session = 10, .groups = {kAside}});
  immortal = {11};
  forbidden = {12};
  ends(10);
  EXPECT_TRUE(adoptions.main_ended(kOne));
  adoptions.over(kOne);
  EXPECT_THAT(turns(), IsEmpty());
  now += Adoptions::kPatience;
  const auto told = turns();
  ASSERT_EQ(told.size(), 1u);
  ASSERT_EQ(told[0].processes.size(), 2u);
  EXPECT_TRUE(told[0].processes[0].lives && told[0].processes[1].lives);
  EXPECT_EQ(adoptions.next_turn(), std::nullopt);
}

TEST_F(AdoptionsTest, ThousandsAreReadBitByBit) {
  constexpr pid_t kMany = 1000;
  for (pid_t pid = 100; pid < 100 + kMany; ++pid) comes(pid, {.groups = {"/x" + group(2)}});
  ends(10);
  EXPECT_EQ(reads, Adoptions::kReadsMax);
  EXPECT_TRUE(adoptions.main_ended(kOne)) << "some may be its own";
  adoptions.over(kOne);
  while (adoptions.next_turn() && reads < 2 * kMany) (void)turns();
  EXPECT_EQ(reads, static_cast<std::size_t>(kMany));
  EXPECT_THAT(killed, IsEmpty());
  // Known ones are not read again.
  ends(100);
  EXPECT_EQ(reads, static_cast<std::size_t>(kMany));
}

TEST_F(AdoptionsTest, ThousandsAreKilledBitByBit) {
  constexpr pid_t kMany = 1000;
  for (pid_t pid = 100; pid < 100 + kMany; ++pid) comes(pid, {.session = 10, .groups = {kAside}});
  ends(10);
  EXPECT_TRUE(adoptions.main_ended(kOne));
  while (adoptions.next_turn() && reads < static_cast<std::size_t>(kMany)) (void)turns();
  adoptions.over(kOne);
  EXPECT_THAT(killed, IsEmpty()) << "starts and ends of others wait meanwhile";
  adoptions.look({});
  EXPECT_EQ(killed.size(), Adoptions::kReadsMax);
  for (int i = 0; i < 10; ++i) (void)turns();
  EXPECT_EQ(killed.size(), static_cast<std::size_t>(kMany));
}

// However many children of one user come, another's job is told of its own in time.
TEST_F(AdoptionsTest, ChildrenOfOneUserHoldUpNobodyElsesEnd) {
  constexpr ChildId kHonest{3}, kHostile{4};
  adoptions.began(kHonest, {.main = 30, .user = 7, .group = group(3), .name = "c"});
  adoptions.began(kHostile, {.main = 40, .user = 8, .group = group(4), .name = "d"});
  pid_t next = 1000;
  const auto flood = [&] {
    for (int i = 0; i < 500; ++i) comes(next++, {.user = 8, .groups = {kAside}});
    adoptions.ended(next);  // whose children they were
  };
  flood();
  comes(31, {.session = 30, .user = 7, .groups = {kAside}});
  ends(30);
  EXPECT_TRUE(adoptions.main_ended(kHonest));
  adoptions.over(kHonest);
  std::vector<Escaped> told;
  while (told.empty() && now < Instant{} + Adoptions::kPatience / 2) {
    flood();
    for (const pid_t pid : std::exchange(dead, {})) adoptions.ended(pid);
    adoptions.look({});
    told = adoptions.settle();
    now += 10ms;
  }
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].id, kHonest);
  ASSERT_EQ(told[0].processes.size(), 1u);
  EXPECT_EQ(told[0].processes[0].pid, 31);
}

// Children that live on are listed again at each end, whosever it is.
TEST_F(AdoptionsTest, HoweverManyChildrenLiveAnotherUsersEndIsToldSoon) {
  constexpr ChildId kHonest{3};
  list_takes = 60ms;  // those of 32,000
  for (pid_t main = 30; main < 40; ++main) {
    adoptions.began(kHonest, {.main = main, .user = 7, .group = group(3), .name = "c"});
    const Instant ended = now;
    ends(main);
    if (!adoptions.main_ended(kHonest)) continue;
    adoptions.over(kHonest);
    while (adoptions.settle().empty()) {
      ASSERT_TRUE(adoptions.next_turn());
      now += *adoptions.next_turn();
      adoptions.look({});
    }
    EXPECT_LE(now - ended, 150ms);
  }
}

// It may have become anybody, and yet does not wait until all of them are read.
TEST_F(AdoptionsTest, AJobOfOursWaitsForOtherUsersChildrenForAMomentOnly) {
  read_takes = 100us;
  comes(50, {.session = 10, .user = 0, .groups = {kAside}});
  for (pid_t pid = 100; pid < 5100; ++pid) comes(pid, {.user = 8, .groups = {kAside}});
  const Instant ended = now;
  ends(10);
  EXPECT_TRUE(adoptions.main_ended(kOne));
  adoptions.over(kOne);
  std::vector<Escaped> told;
  while (told.empty()) {
    ASSERT_TRUE(adoptions.next_turn());
    now += *adoptions.next_turn();
    for (const pid_t pid : std::exchange(dead, {})) adoptions.ended(pid);
    adoptions.look({});
    told = adoptions.settle();
  }
  EXPECT_LE(now - ended, 200ms);
  ASSERT_EQ(told[0].processes.size(), 1u);
  EXPECT_EQ(told[0].processes[0].pid, 50);
}

TEST_F(AdoptionsTest, BesideChildrenOfBeforeOnlyWhoCanBeToldIsKilled) {
  adoptions.inherit({5});
  comes(5, {});
  comes(11, {.groups = {kAside}});
  comes(12, {.session = 10, .groups = {kAside}});
  for (const pid_t main : {10, 20}) ends(main);
  EXPECT_TRUE(adoptions.main_ended(kOne));
  (void)adoptions.main_ended(kTwo);
  adoptions.over(kOne);
  (void)turns();
  EXPECT_THAT(killed, ElementsAre(12));
}

TEST(AdoptionsOfNobody, WithoutJobsInGroupsNobodyIsLookedAt) {
  struct Host final : FakeHost {
    std::vector<pid_t> new_children() override {
      ADD_FAILURE();
      return {};
    }
  } host;
  Adoptions adoptions(host);
  adoptions.ended(7);
  adoptions.look({});
  EXPECT_FALSE(adoptions.main_ended(kOne));
  EXPECT_EQ(adoptions.next_turn(), std::nullopt);
}

}  // namespace
}  // namespace plimsoll::guardian
