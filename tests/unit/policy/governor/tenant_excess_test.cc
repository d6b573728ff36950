#include "policy/governor/tenant_excess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "governor_story.h"
#include "policy/governor/victims.h"

// Who loses a job when the memory of several users is short.
namespace plimsoll::policy {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr unsigned kAnn = 1001, kBen = 1002;

GovernorConfig shared() { return {.line = mib(1000), .cores = 100, .jobs_max = 1000}; }

// So often until then that nobody seems to grow any more.
template <class Look>
void look_often(Story& story, double t, Look look) {
  for (double when = t - 1; when <= t; when += 0.05) look(when);
  look(t);
  story.samples(t);
}

// Alice's first job is the oldest of all, Bob's are 2 to 4; all are looked at at once.
struct Two : Story {
  Two() : Story(shared()) {}

  void begin(const Expected& of_alice, const Expected& of_bob) {
    waits_for(kAnn, 1, of_alice);
    EXPECT_THAT(rules(0), Contains("admit 1"));
    uses(1, 0.5, 1);
    for (unsigned id = 2; id <= 4; ++id) waits_for(kBen, id, of_bob, 0.5);
    samples(0.5);
    EXPECT_THAT(rules(0.5), AllOf(Contains("admit 2"), Contains("admit 3"), Contains("admit 4")));
  }
  std::vector<std::string> are_seen(double t, double alice, double bob) {
    look_often(*this, t, [&](double when) {
      uses(1, when, alice);
      for (unsigned id = 2; id <= 4; ++id) uses(id, when, bob, 0.5);
    });
    return rules(t);
  }
};

TEST(TenantExcess, TheOldestJobThatGrowsBeyondItsUsersPartGoesBeforeOthers) {
  Two two;
  two.begin({.mib = 1}, {.mib = 100});
  const auto words = two.are_seen(2, 800, 100);
  EXPECT_THAT(words, Contains("evict 1"));
  EXPECT_THAT(words, Not(Contains(AllOf(StartsWith("evict"), Not("evict 1")))));
  EXPECT_THAT(two.reasons.back(),
              HasSubstr("the jobs of its user take 300 MiB more than an equal"));
}

// Killed, and after more than a second not dead: a machine without processors to spare.
TEST(TenantExcess, ForOneThatDoesNotDieNobodyElsePaysForSeconds) {
  Two two;
  two.begin({.mib = 1}, {.mib = 100});
  EXPECT_THAT(two.are_seen(2, 800, 100), Contains("evict 1"));
  const double longest = 2 + to_seconds(kDeathAwaitedMost);
  for (double t = 2.5; t < longest; t += 0.5) {
    two.samples(t);
    EXPECT_THAT(two.rules(t), Each(Not(StartsWith("evict")))) << t;
  }
  two.samples(longest);
  EXPECT_THAT(two.rules(longest), Contains(StartsWith("evict")));
}

TEST(TenantExcess, WithinItsUsersPartTheOldestJobStays) {
  Two two;
  two.begin({.mib = 1}, {.mib = 200});
  const auto words = two.are_seen(2, 450, 200);
  EXPECT_THAT(words, Contains(StartsWith("evict")));
  EXPECT_THAT(words, Each(Not("evict 1")));
}

// 9 has it, as it was lost so often; 1 is the oldest.
TEST(TenantExcess, TheRightOfWayHoldsWithinThePartAlone) {
  for (const double used : {450, 800}) {
    Story story(shared());
    story.waits_for(kBen, 1, {.mib = 100});
    EXPECT_THAT(story.rules(0), Contains("admit 1"));
    story.uses(1, 0.5, 100);
    story.waits(9, {.mib = 300}, 0.5, 0, kEvictionsMax, true, Tenant{kAnn});
    for (unsigned id = 2; id <= 3; ++id) story.waits_for(kBen, id, {.mib = 200}, 0.5);
    story.samples(0.5);
    EXPECT_THAT(story.rules(0.5), Contains("admit 9"));
    look_often(story, 2, [&](double when) {
      story.uses(9, when, used, 0.5);
      for (unsigned id = 2; id <= 3; ++id) story.uses(id, when, 250, 0.5);
    });
    const auto words = story.rules(2);
    EXPECT_EQ(std::count(words.begin(), words.end(), "evict 9"), used == 800 ? 1 : 0) << used;
  }
}

// It has all of the line when Bob comes, and is as large as was expected.
TEST(TenantExcess, WhatKeepsAnothersJobPausedForLongGoes) {
  Story story(shared());
  story.waits_for(kAnn, 1, {.mib = 700, .seconds = 100'000});
  EXPECT_THAT(story.rules(0), Contains("admit 1"));
  for (const double t : {0.2, 0.4, 0.6, 0.8}) {
    story.uses(1, t, 700);
    story.samples(t);
  }
  story.waits_for(kBen, 2, {.mib = 150, .seconds = 1000}, 1);
  EXPECT_THAT(story.rules(1), Contains("admit 2"));
  for (const double t : {1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.4, 2.6}) {
    story.uses(1, t, 700);
    story.uses(2, t, 140, 1);
    story.samples(t);
  }
  EXPECT_THAT(story.rules(2.6), IsEmpty());
  story.uses(2, 3, 285, 1);
  story.uses(1, 3, 700);
  story.samples(3);
  EXPECT_THAT(story.rules(3), Contains("freeze 2"));
  double evicted = 0;
  for (double t = 4; t < 60 && evicted == 0; ++t) {
    story.uses(1, t, 700);
    story.samples(t);
    const auto words = story.rules(t);
    if (std::count(words.begin(), words.end(), "evict 1") > 0) evicted = t;
    EXPECT_THAT(words, Each(Not("evict 2")));
  }
  EXPECT_NEAR(evicted, 33, 1.5);
  EXPECT_THAT(story.reasons.back(), HasSubstr("a job of another user"));
}

// How Ann's six jobs fare, of so many MiB each, when one of Ben's is paused for ten minutes that
// has 97 % of `has`, cannot be run again and is then believed to come to `wish`.
struct Claim {
  double each, has, wish;
  unsigned known;
};
std::vector<std::string> evictions_for(const Claim& claim) {
  Story story(shared());
  const auto look = [&](double t) {
    for (unsigned id = 1; id <= 6; ++id) {
      if (story.used.count(id) > 0) story.uses(id, t, claim.each);
    }
  };
  for (unsigned id = 1; id <= 6; ++id) {
    story.waits_for(kAnn, id, {.mib = claim.each, .seconds = 100'000});
  }
  EXPECT_THAT(story.rules(0), Contains("admit 6"));
  for (unsigned id = 1; id <= 6; ++id) story.uses(id, 0.1, claim.each);
  for (double t = 0.2; t < 60; t += 0.2) {
    look(t);
    story.samples(t);
  }
  story.waits(9, {.mib = claim.has / 2, .seconds = 100'000, .known = claim.known}, 60, 0, 0, false,
              Tenant{kBen});
  EXPECT_THAT(story.rules(60), Contains("admit 9"));
  for (double t = 60.2; t < 62; t += 0.2) {
    look(t);
    story.uses(9, t, claim.has / 2, 60);
    story.samples(t);
  }
  const Expected wish{.mib = claim.wish, .seconds = 100'000, .known = claim.known};
  story.governor.expect(story.job(9), flat(wish), at(62));
  look(62);
  story.uses(9, 62, claim.has * 0.97, 60);
  story.samples(62);
  EXPECT_THAT(story.rules(62), Contains("freeze 9"));
  std::vector<std::string> evictions;
  for (double t = 63; t < 660; ++t) {
    look(t);
    story.samples(t);
    std::vector<unsigned> gone;
    for (const auto& word : story.rules(t)) {
      if (!word.starts_with("evict")) continue;
      evictions.push_back(word);
      gone.push_back(number_in(word));
    }
    for (const unsigned id : gone) story.ends(id, t + 0.1, Outcome::evicted);
  }
  return evictions;
}

// However long it is paused: to run jobs of others again costs these.
TEST(TenantExcess, WhoIsWithinHisPartLosesNothingForAnothersWaste) {
  EXPECT_THAT(evictions_for({.each = 80, .has = 490, .wish = 540, .known = 10}), IsEmpty());
  EXPECT_THAT(evictions_for({.each = 80, .has = 490, .wish = 900, .known = 0}), IsEmpty());
}

// Whatever another's paused job would like to have: of one that is not known that is a guess, and
// one that is known is not helped by less.
TEST(TenantExcess, WhoIsBeyondHisPartLosesNoMoreThanThat) {
  EXPECT_THAT(evictions_for({.each = 100, .has = 380, .wish = 800, .known = 0}),
              ElementsAre(StartsWith("evict")));
  EXPECT_THAT(evictions_for({.each = 100, .has = 380, .wish = 800, .known = 10}), IsEmpty());
}

// The oldest job of one who is beyond his part is not evicted for another of his own.
TEST(TenantExcess, OfOneTenantTheOldestJobGoesLast) {
  Story story(shared());
  story.waits_for(kBen, 3, {.mib = 1});
  story.waits_for(kAnn, 1, {.mib = 100});
  EXPECT_THAT(story.rules(0), Contains("admit 1"));
  story.uses(1, 0.5, 100);
  story.waits_for(kAnn, 2, {.mib = 100}, 0.5);
  story.samples(0.5);
  EXPECT_THAT(story.rules(0.5), Contains("admit 2"));
  story.uses(1, 1.5, 600);
  story.uses(2, 1.5, 430, 0.5);
  story.samples(1.5);
  const auto words = story.rules(1.5);
  EXPECT_THAT(words, Contains("evict 2"));
  EXPECT_THAT(words, Each(Not("evict 1")));
}

// 42 % and growing by 9 % before it could be paused; the other has 50 %.
TEST(TenantExcess, WhatIsAboutToBeTakenCounts) {
  RunningSet running_set;
  Ready first{.job = JobId{1}, .tenant = Tenant{kAnn}}, second{.job = JobId{2}};
  running_set.start(first, flat({.mib = 1, .known = 0}), at(0));
  running_set.start(second, flat({.mib = 500}), at(0));
  running_set.observe(*second.member, {.ran = at(1) - at(0), .used = mib(490)}, at(1));
  running_set.observe(*first.member, {.ran = at(1) - at(0), .used = mib(20)}, at(1));
  running_set.observe(*first.member, {.ran = at(2) - at(0), .used = mib(420)}, at(2));
  const TenantExcess excess(running_set, to_double(mib(1000)));
  EXPECT_GT(excess.of(Tenant{kAnn}), 0);
}

// As long as somebody is beyond his part, it is taken from whoever is furthest: 100, and 90.
TEST(TenantExcess, OfSeveralWhoAreBeyondEachGivesBackHisOwn) {
  RunningSet running_set;
  std::vector<std::unique_ptr<Ready>> jobs;
  const auto add = [&](unsigned tenant, double used) {
    const JobId id{static_cast<std::uint64_t>(jobs.size() + 1)};
    jobs.push_back(std::make_unique<Ready>(Ready{.job = id, .tenant = Tenant{tenant}}));
    running_set.start(*jobs.back(), flat({.mib = used}), at(0));
    running_set.observe(*jobs.back()->member, {.ran = at(1) - at(0), .used = mib(used)}, at(9));
  };
  constexpr unsigned kCay = 1003;
  add(kCay, 100);
  for (int i = 0; i < 4; ++i) add(kAnn, 100);
  for (int i = 0; i < 4; ++i) add(kBen, 98);
  for (const auto& one : jobs) one->member->rise = {};
  const Victims victims = choose_victims(running_set, *jobs.front()->member,
                                         {to_double(mib(190)), to_double(mib(900))}, Lose::anybody);
  std::map<Tenant, int> gone;
  for (const Member* victim : victims.members) ++gone[victim->ready.tenant];
  EXPECT_EQ(gone[Tenant{kAnn}], 1);
  EXPECT_EQ(gone[Tenant{kBen}], 1);
}

// What they say that they have is nothing that their end would give back.
TEST(TenantExcess, WhoIsOnlyToldToHaveMemoryIsNoVictim) {
  RunningSet running_set;
  Ready told{.job = JobId{1}, .tenant = Tenant{kAnn}},
      real{.job = JobId{2}, .tenant = Tenant{kAnn}};
  Ready other{.job = JobId{3}, .tenant = Tenant{kBen}};
  for (Ready* one : {&other, &told, &real}) running_set.start(*one, flat({.mib = 1}), at(0));
  running_set.observe(*told.member, {.ran = at(1) - at(0), .used = mib(900), .claimed = mib(100)},
                      at(1));
  running_set.believe(*told.member, 0);
  running_set.observe(*real.member, {.ran = at(1) - at(0), .used = mib(800)}, at(1));
  running_set.observe(*other.member, {.ran = at(1) - at(0), .used = mib(300)}, at(1));
  const Victims victims = choose_victims(
      running_set, *other.member, {to_double(mib(100)), to_double(mib(1000))}, Lose::anybody);
  ASSERT_EQ(victims.members.size(), 1u);
  EXPECT_EQ(victims.members.front(), real.member.get());
}

// The oldest job sleeps, and another's is paused: that is neither let go nor ended for it.
TEST(TenantExcess, ForAnotherTenantsOldestJobThatStandsStillNobodyGoesOnOrIsEnded) {
  for (const double used : {450, 525}) {  // 525: a little beyond the line, when it stands
    Story story(shared());
    story.waits_for(kAnn, 1, {.mib = 480, .seconds = 100'000});
    story.waits_for(kBen, 2, {.mib = 400, .seconds = 1000});
    EXPECT_THAT(story.rules(0), AllOf(Contains("admit 1"), Contains("admit 2")));
    look_often(story, 2, [&](double when) {
      story.uses(1, when, 480);
      story.uses(2, when, 400);
    });
    story.uses(2, 2.1, 450);
    story.samples(2.1);
    EXPECT_THAT(story.rules(2.1), Contains("freeze 2"));
    story.uses(2, 2.2, used);
    for (double t = 2.2; t < 25; t += 0.5) {
      story.samples(t);
      EXPECT_THAT(story.rules(t), Each(AllOf(Not("evict 2"), Not("thaw 2")))) << t;
    }
  }
}

TEST(TenantExcess, OfOneTenantNobodyHasMoreThanHisPart) {
  RunningSet running_set;
  EXPECT_EQ(TenantExcess(running_set, 1000).of(Tenant{kAnn}), 0);
  Ready first{.job = JobId{1}, .tenant = Tenant{kAnn}}, second{.job = JobId{2}};
  running_set.start(first, flat({.mib = 1}), at(0));
  running_set.observe(*first.member, {.ran = at(1) - at(0), .used = mib(900)}, at(1));
  EXPECT_EQ(TenantExcess(running_set, to_double(mib(1000))).of(Tenant{kAnn}), 0);
  running_set.start(second, flat({.mib = 1}), at(1));
  first.member->rise = {};
  const TenantExcess excess(running_set, to_double(mib(1000)));
  EXPECT_EQ(excess.of(Tenant{kAnn}), to_double(mib(400)));
  EXPECT_EQ(excess.of(kHost), 0);
  EXPECT_TRUE(excess.gives_way(*first.member));
  first.lost = kEvictionsMax + 1;
  EXPECT_FALSE(excess.gives_way(*first.member));
}

}  // namespace
}  // namespace plimsoll::policy
