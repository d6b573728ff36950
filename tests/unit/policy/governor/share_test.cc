#include "policy/governor/share.h"

#include <gtest/gtest.h>

#include <vector>

namespace plimsoll::policy {
namespace {

using namespace plimsoll::literals;

// A claim of memory alone, and what of a line it gets.
struct OfMemory {
  Bytes used{}, claimed{};
  bool wanting = false;
  std::size_t running{};
  std::optional<int> oldest{};  // when it started, in seconds
  operator RunClaim() const {
    RunClaim claim{
        .memory = {used, claimed, wanting}, .cores = {}, .running = running, .sizeable = running};
    if (oldest) claim.oldest = Instant(std::chrono::seconds(*oldest));
    return claim;
  }
};
// Runs of one user.
Beside beside(const std::vector<RunClaim>& others) {
  return {.believed = others, .runs_of_own = others.size() + 1};
}
Bytes line_of(Bytes line, const RunClaim& own, const std::vector<RunClaim>& others) {
  return share_of({.line = line, .cores = 4}, own, beside(others)).line;
}

TEST(Share, ARunAloneHasTheWhole) {
  EXPECT_EQ(line_of(8_GiB, {}, {}), 8_GiB);
  EXPECT_EQ(share_of({.line = 8_GiB, .cores = 4}, {}, {}).cores, 4);
}

TEST(Share, WhatOthersLeaveIsToldWhereTheyUseAny) {
  const std::vector<RunClaim> idle = {OfMemory{.claimed = 2_GiB, .running = 3}};
  EXPECT_EQ(share_of({.line = 8_GiB, .cores = 4}, {}, beside(idle)).left_by_others, std::nullopt);
  const std::vector<RunClaim> others = {OfMemory{.used = 1_GiB, .running = 1},
                                        OfMemory{.used = 5_GiB, .running = 9}};
  EXPECT_EQ(share_of({.line = 8_GiB, .cores = 4}, {}, beside(others)).left_by_others, 2_GiB);
  const std::vector<RunClaim> over = {OfMemory{.used = 9_GiB, .running = 1}};
  EXPECT_EQ(share_of({.line = 8_GiB, .cores = 4}, {}, beside(over)).left_by_others, Bytes{});
}

TEST(Share, WhatOthersDoNotWantIsFree) {
  const std::vector<RunClaim> others = {OfMemory{.used = 1_GiB, .claimed = 2_GiB, .running = 3}};
  EXPECT_EQ(line_of(8_GiB, {}, others), 6_GiB);
}

TEST(Share, ANewRunHasItsFairShareOfWhatIsNotInUse) {
  const std::vector<RunClaim> all_claimed = {
      OfMemory{.used = 3_GiB, .claimed = 8_GiB, .running = 9}};
  EXPECT_EQ(line_of(8_GiB, OfMemory{.wanting = true}, all_claimed), 4_GiB);
  const std::vector<RunClaim> all_used = {OfMemory{.used = 7_GiB, .claimed = 8_GiB, .running = 9}};
  EXPECT_EQ(line_of(8_GiB, OfMemory{.wanting = true}, all_used), 1_GiB);
}

TEST(Share, ARunGivesWayAsItsJobsEnd) {
  const std::vector<RunClaim> newcomer = {
      OfMemory{.claimed = 512_MiB, .wanting = true, .running = 1}};
  EXPECT_EQ(line_of(8_GiB, OfMemory{.used = 7_GiB, .claimed = 8_GiB, .running = 9}, newcomer),
            7_GiB);
  EXPECT_EQ(line_of(8_GiB, OfMemory{.used = 5_GiB, .claimed = 6_GiB, .running = 7}, newcomer),
            5_GiB);
  EXPECT_EQ(line_of(8_GiB, OfMemory{.used = 1_GiB, .claimed = 2_GiB, .running = 2}, newcomer),
            4_GiB);
}

TEST(Share, AJobAloneMayHaveAllThatIsNotInUse) {
  const std::vector<RunClaim> other = {
      OfMemory{.used = 1_GiB, .claimed = 4_GiB, .wanting = true, .running = 4}};
  EXPECT_EQ(line_of(8_GiB, OfMemory{.used = 5_GiB, .claimed = 5_GiB, .running = 1}, other), 7_GiB);
}

TEST(Share, NothingMayBeStartedWhereOthersAreAboutToAllocate) {
  RunClaim other = OfMemory{.used = 1_GiB, .claimed = 7_GiB, .running = 7};
  other.starting = 6_GiB;
  Share share = share_of({.line = 8_GiB, .cores = 4}, OfMemory{.wanting = true}, beside({other}));
  EXPECT_EQ(share.line, 4_GiB);
  EXPECT_EQ(share.taken, 3_GiB);
  // What is in use is nothing to wait for.
  RunClaim long_one = OfMemory{.used = 7936_MiB, .claimed = 8_GiB, .running = 1};
  share = share_of({.line = 8_GiB, .cores = 4}, {}, beside({long_one}));
  EXPECT_EQ(share.line, 512_MiB);
  EXPECT_EQ(share.taken, Bytes{});
  other.starting = {~0ULL};
  share = share_of({.line = 8_GiB, .cores = 4}, {}, beside({other}));
  EXPECT_EQ(share.taken, share.line);
  for (const Bytes starting : {3_GiB, 3_GiB + 80_MiB}) {
    other.starting = starting;
    share = share_of({.line = 8_GiB, .cores = 4}, OfMemory{.wanting = true}, beside({other}));
    EXPECT_EQ(share.taken, Bytes{});
  }
}

TEST(Share, NobodyIsLeftWithNothing) {
  const std::vector<RunClaim> others = {
      OfMemory{.used = 9_GiB, .claimed = 9_GiB, .wanting = true, .running = 9}};
  EXPECT_EQ(line_of(8_GiB, OfMemory{.wanting = true}, others), 512_MiB);
}

TEST(Share, WhatIsInUseIsNotTakenAwayByAClaim) {
  const std::vector<RunClaim> reserved_job = {
      OfMemory{.claimed = 7_GiB, .wanting = true, .running = 1}};
  EXPECT_EQ(line_of(8_GiB, OfMemory{.used = 6_GiB, .claimed = 6_GiB, .running = 5}, reserved_job),
            6_GiB);
}

TEST(Share, WhatIsLeftToOneIsWhatElderRunsHaveNotClaimed) {
  const std::vector<RunClaim> elder = {
      OfMemory{.used = 1_GiB, .claimed = 6_GiB, .running = 1, .oldest = 10}};
  const Share whole{.line = 8_GiB, .cores = 4};
  const OfMemory waiting{.wanting = true};
  EXPECT_EQ(share_of(whole, waiting, beside(elder)).left_by_others, 4_GiB);  // its fair share
  const std::vector<RunClaim> three(3, elder[0]);
  EXPECT_EQ(share_of(whole, waiting, beside(three)).left_by_others, 2_GiB);
  // A job that runs alone may not take what an elder one is to have, be it not in use.
  const OfMemory younger{.used = 5_GiB, .claimed = 5_GiB, .running = 1, .oldest = 11};
  EXPECT_EQ(line_of(8_GiB, younger, elder), 5_GiB);
  const OfMemory eldest{.used = 5_GiB, .claimed = 5_GiB, .running = 1, .oldest = 9};
  EXPECT_EQ(line_of(8_GiB, eldest, elder), 7_GiB);
}

TEST(Share, TheYoungestIsTheFirstToGiveBack) {
  const OfMemory first{.used = 3_GiB, .claimed = 4_GiB, .running = 1, .oldest = 1};
  const OfMemory second{.used = 3_GiB, .claimed = 3_GiB, .running = 1, .oldest = 2};
  const OfMemory third{.used = 2_GiB, .claimed = 3_GiB, .running = 1, .oldest = 3};
  // With five that have nothing, a fair share is 1 GiB.
  const auto line = [](const RunClaim& own, RunClaim one, RunClaim other) {
    return line_of(8_GiB, own, {one, other, {}, {}, {}, {}, {}});
  };
  EXPECT_EQ(line(first, second, third), 3_GiB);
  EXPECT_EQ(line(second, first, third), 3_GiB);
  // What the first is about to grow by, as far as it may at once.
  EXPECT_EQ(line(third, first, second), 2_GiB - 512_MiB);
  const auto may_pause_all = [](const RunClaim& own, const std::vector<RunClaim>& others) {
    return share_of({.line = 8_GiB, .cores = 4}, own, beside(others)).has_elder;
  };
  EXPECT_FALSE(may_pause_all(first, {second, third}));
  EXPECT_TRUE(may_pause_all(second, {first, third}));
  EXPECT_TRUE(may_pause_all(third, {first, second}));
  EXPECT_FALSE(may_pause_all(third, {OfMemory{.used = 3_GiB, .running = 0}}));
}

TEST(Share, WhatHasYetToShowItsNeedsIsCountedInAllRunsThatAreBelieved) {
  RunClaim one, other;
  one.unsettled = 2;
  other.unsettled = 3;
  Beside all = beside({one, other});
  all.told = {other};
  EXPECT_EQ(share_of({.line = 8_GiB, .cores = 4}, {}, all).unsettled, 5U);
  all.believed.front().unsettled = ~std::size_t{};
  EXPECT_EQ(share_of({.line = 8_GiB, .cores = 4}, {}, all).unsettled, kUnsettledMost);
}

TEST(Share, CoresAreSharedAsMemoryIs) {
  const Share whole{.line = 8_GiB, .cores = 4};
  const RunClaim busy{
      .memory = {}, .cores = {.used = 4, .claimed = 4, .wanting = true}, .running = 4};
  const RunClaim newcomer{
      .memory = {}, .cores = {.used = 0, .claimed = 2, .wanting = true}, .running = 2};
  EXPECT_EQ(share_of(whole, busy, beside({newcomer})).cores, 4);
  const RunClaim ebbing{
      .memory = {}, .cores = {.used = 1, .claimed = 4, .wanting = true}, .running = 4};
  EXPECT_EQ(share_of(whole, ebbing, beside({newcomer})).cores, 2);
  EXPECT_EQ(share_of(whole, newcomer, beside({ebbing})).cores, 2);
  EXPECT_EQ(share_of(whole, newcomer, beside({busy})).cores, 4 * kShareMin);
  EXPECT_EQ(share_of(whole, newcomer, beside({busy})).line, 8_GiB);
}

// Of two users, the other's word.
Beside told_by(const std::vector<RunClaim>& users) { return {.told = users}; }
const Share kWhole{.line = 8_GiB, .cores = 4};

TEST(Share, AnothersWordNeverLowersTheLine) {
  const RunClaim own = OfMemory{.used = 3_GiB, .claimed = 3_GiB, .running = 2};
  for (const Bytes lie : {1_GiB, 4_GiB, 8_GiB, Bytes{~0ULL}}) {
    RunClaim other = OfMemory{.used = lie, .claimed = lie, .wanting = true, .running = 1};
    other.starting = lie;
    for (const std::size_t users : {1u, 2u, 15u, 1000u}) {
      const Share share = share_of(kWhole, own, told_by(std::vector(users, other)));
      EXPECT_EQ(share.line, 8_GiB);
      EXPECT_EQ(share.taken, Bytes{});
      EXPECT_EQ(share.left_by_others, std::nullopt);
      EXPECT_GE(share.line - share.told, 512_MiB);
    }
  }
}

TEST(Share, AnothersWordHoldsBackStartsAsFarAsHisPartGoes) {
  const RunClaim own = OfMemory{.running = 2};
  const RunClaim honest = OfMemory{.used = 1_GiB, .claimed = 2_GiB, .running = 3};
  EXPECT_EQ(share_of(kWhole, own, told_by({honest})).told, 2_GiB);
  RunClaim liar = OfMemory{.used = 9_GiB, .claimed = 9_GiB, .wanting = true, .running = 1};
  EXPECT_EQ(share_of(kWhole, own, told_by({liar})).told, 4_GiB);
  EXPECT_EQ(share_of(kWhole, own, told_by({liar, liar, liar})).told, 6_GiB);
  liar.starting = 9_GiB;
  EXPECT_EQ(share_of(kWhole, own, told_by({liar})).told, 4_GiB);
  liar = {.memory = {}, .cores = {.used = 100, .claimed = 100, .wanting = true}, .running = 1};
  EXPECT_EQ(share_of(kWhole, own, told_by({liar})).cores, 2);
}

// Root's batch is believed by his daemon, and has a half of his half; of what it uses, nothing is
// the other user's.
TEST(Share, UsersHaveEqualPartsAndRunsThoseOfTheirUsers) {
  const RunClaim batch = OfMemory{.used = 1_GiB, .claimed = 8_GiB, .running = 9};
  const RunClaim other = OfMemory{.used = 1_GiB, .claimed = 8_GiB, .running = 9};
  const Beside both{.believed = {batch}, .told = {other}, .runs_of_own = 2};
  EXPECT_EQ(both.parts(), 4u);
  const Share share = share_of(kWhole, OfMemory{.wanting = true}, both);
  EXPECT_EQ(share.line, 4_GiB);
  EXPECT_EQ(share.line - share.told, 2_GiB);
}

}  // namespace
}  // namespace plimsoll::policy
