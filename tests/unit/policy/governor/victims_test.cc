#include "policy/governor/victims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "governor_story.h"
#include "policy/governor/memory_response.h"

namespace plimsoll::policy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

struct Candidate {
  unsigned id;
  double used;
  double expected = 1000;
  double cpu_seconds = 10;
  bool restartable = true;
  unsigned lost = 0;
  bool is_command = false;
  unsigned known = 10;  // attempts of its kind
};

constexpr double kLine = 1000.0 * (1 << 20);

// Running jobs of one tenant, the first one the keel.
struct Fleet {
  explicit Fleet(const std::vector<Candidate>& candidates) {
    for (const Candidate& one : candidates) add(one);
  }
  void add(const Candidate& one) {
    Ready& ready = jobs.emplace_back(Ready{.job = JobId{one.id},
                                           .restartable = one.restartable,
                                           .lost = one.lost,
                                           .is_command = one.is_command});
    running_set.start(ready, flat({.mib = one.expected, .known = one.known}), at(one.id));
    running_set.observe(*ready.member,
                        {.ran = std::chrono::seconds(10),
                         .used = mib(one.used),
                         .peak = mib(one.used),
                         .cpu = std::chrono::duration_cast<Duration>(
                             std::chrono::duration<double>(one.cpu_seconds))},
                        at(100));
  }
  // Who is chosen.
  [[nodiscard]] std::vector<JobId> victims(double shortage,
                                           Spare spare = Spare::right_of_way) const {
    std::vector<JobId> chosen;
    for (const Member* one :
         choose_victims(running_set, *jobs.front().member, {shortage, kLine}, lose, spare)
             .members) {
      chosen.push_back(one->ready.job);
    }
    return chosen;
  }

  [[nodiscard]] JobId fails(double shortage) const {
    return furthest_over(running_set, {shortage, kLine}, shortage * kGivenBackLeast)
        .member->ready.job;
  }

  // It waits for commands, and has had so much when it began to.
  void waits(std::size_t place, double had) {
    Member& member = *jobs[place].member;
    member.waits_for_commands = true;
    member.used_before_commands = to_double(mib(had));
  }

  std::deque<Ready> jobs;
  RunningSet running_set;
  Lose lose = Lose::anybody;
};

double bytes(double count) { return count * 1048576; }

TEST(Victims, WhoIsFarOverItsEstimateGoesFirst) {
  const Fleet fleet({{1, 500}, {2, 300, 1000, 1}, {3, 300, 100, 900}});
  EXPECT_THAT(fleet.victims(bytes(200)), ElementsAre(JobId{3}));
}

TEST(Victims, ALittleMoreThanTheEstimateOfAKnownKindIsNoFault) {
  const Fleet fleet({{1, 500}, {2, 300, 280, 900}, {3, 300, 1000, 1}});
  EXPECT_THAT(fleet.victims(bytes(200)), ElementsAre(JobId{3}));
}

TEST(Victims, AnyMoreIsOneWhereTheKindIsUnknown) {
  const Candidate grown{.id = 2, .used = 300, .expected = 250, .cpu_seconds = 900, .known = 0};
  const Fleet fleet({{1, 500}, grown, {3, 300, 1000, 1}});
  EXPECT_THAT(fleet.victims(bytes(200)), ElementsAre(JobId{2}));
}

TEST(Victims, ThenMostBytesForTheWorkLost) {
  const Fleet fleet({{1, 500}, {2, 300, 1000, 100}, {3, 200, 1000, 1}});
  EXPECT_THAT(fleet.victims(bytes(150)), ElementsAre(JobId{3}));
}

TEST(Victims, NobodyMoreThanIsNeeded) {
  const Fleet fleet({{1, 500}, {2, 10, 1000, 0.001}, {3, 20, 1000, 0.01}, {4, 400, 1000, 100}});
  EXPECT_THAT(fleet.victims(bytes(300)), ElementsAre(JobId{4}));
}

TEST(Victims, WhatCanNotBeStartedAgainComesLastAndTheKeelNever) {
  const Fleet fleet(
      {{1, 900}, {2, 100, 50, 0.1, false}, {3, 100, 1000, 50, true, 2}, {4, 100, 1000, 900}});
  EXPECT_THAT(fleet.victims(bytes(100)), ElementsAre(JobId{4}));
  EXPECT_THAT(fleet.victims(bytes(200)), UnorderedElementsAre(JobId{3}, JobId{4}));
  EXPECT_THAT(fleet.victims(bytes(1000)), UnorderedElementsAre(JobId{2}, JobId{3}, JobId{4}));
  EXPECT_THAT(fleet.victims(bytes(1000), Spare::twice_lost), ElementsAre(JobId{4}));
}

TEST(Victims, WhatCanNotBeStartedAgainIsSparedWhereNobodyMayBeLost) {
  Fleet fleet({{1, 900}, {2, 100, 50, 0.1, false}, {3, 100, 1000, 50, true, 2}});
  fleet.lose = Lose::nobody;
  EXPECT_THAT(fleet.victims(bytes(1000)), ElementsAre(JobId{3}));
}

TEST(Victims, TheRightOfWayIsRespected) {
  const Fleet fleet({{1, 500}, {2, 300, 1000, 1, true, kEvictionsMax}});
  EXPECT_THAT(fleet.victims(bytes(100)), IsEmpty());
}

TEST(Victims, WhoWaitsForCommandsIsSparedUnlessTheShortageIsItsOwn) {
  Fleet fleet({{1, 500}, {2, 900, 100}, {3, 400, 1000}});
  fleet.waits(1, 900);
  EXPECT_THAT(fleet.victims(bytes(300)), ElementsAre(JobId{3})) << "it has taken nothing since";
  fleet.waits(1, 700);
  EXPECT_THAT(fleet.victims(bytes(300)), ElementsAre(JobId{3})) << "most is others'";
  EXPECT_THAT(fleet.victims(bytes(150)), ElementsAre(JobId{2}));
  fleet.waits(1, 0);
  EXPECT_THAT(fleet.victims(bytes(300)), ElementsAre(JobId{2}));
}

TEST(Victims, WhoWaitsForCommandsMayComeToItsEstimate) {
  Fleet fleet({{1, 500}, {2, 900, 900}, {3, 400, 1000}});
  fleet.waits(1, 0);
  EXPECT_THAT(fleet.victims(bytes(300)), ElementsAre(JobId{3}));
}

TEST(FurthestOver, IsWhoHasMostBeyondItsEstimateBeItTheKeel) {
  EXPECT_EQ(Fleet({{1, 900, 500}, {2, 300, 100}}).fails(bytes(50)), JobId{1});
  EXPECT_EQ(Fleet({{1, 900, 800}, {2, 300, 100}}).fails(bytes(50)), JobId{2});
}

TEST(FurthestOver, WhoGivesNothingBackFailsOnlyIfNobodyGivesMore) {
  EXPECT_EQ(Fleet({{1, 2, 1}, {2, 300, 350}}).fails(bytes(50)), JobId{2});
  EXPECT_EQ(Fleet({{1, 2, 1}, {2, 3, 1}}).fails(bytes(50)), JobId{2});
}

TEST(FurthestOver, ACommandGoesBeforeWhoWaitsForIt) {
  Fleet fleet({{1, 90, 60}, {.id = 2, .used = 226, .expected = 230, .is_command = true}});
  EXPECT_EQ(fleet.fails(bytes(26)), JobId{1}) << "it waits for none";
  fleet.waits(0, 90);
  EXPECT_EQ(fleet.fails(bytes(26)), JobId{2});
  fleet.waits(0, 60);
  EXPECT_EQ(fleet.fails(bytes(26)), JobId{1}) << "it has taken the shortage since";
}

TEST(FurthestOver, ACommandThatHasNotGrownAndDoesNotCoverTheShortageIsNoHelp) {
  Fleet fleet({{1, 900, 100}, {.id = 2, .used = 60, .expected = 60, .is_command = true}});
  fleet.waits(0, 900);
  EXPECT_EQ(fleet.fails(bytes(260)), JobId{1});
  EXPECT_EQ(fleet.fails(bytes(50)), JobId{2});
}

TEST(FurthestOver, AnotherThatHasGrownGoesBeforeCommandsThatHaveNot) {
  Fleet fleet({{1, 900, 100}, {2, 500, 300}});
  fleet.add({.id = 3, .used = 300, .expected = 900, .is_command = true});
  fleet.waits(0, 900);
  EXPECT_EQ(fleet.fails(bytes(260)), JobId{2});
}

TEST(FurthestOver, WhoWaitsGoesIfNoCommandGivesAnythingBack) {
  Fleet fleet({{1, 190, 60}, {.id = 2, .used = 1, .expected = 1, .is_command = true}});
  fleet.waits(0, 190);
  EXPECT_EQ(fleet.fails(bytes(26)), JobId{1});
}

TEST(WayOut, OneAfterTheOther) {
  EXPECT_TRUE(is_safe_state({}, 0));
  EXPECT_TRUE(is_safe_state({{.used = 5, .need = 5}, {.used = 5, .need = 1}}, 1));
  EXPECT_FALSE(is_safe_state({{.used = 5, .need = 5}, {.used = 5, .need = 2}}, 1));
  EXPECT_FALSE(is_safe_state({{.used = 1, .need = 0}, {.used = 5, .need = 5}}, 3));
}

}  // namespace
}  // namespace plimsoll::policy
