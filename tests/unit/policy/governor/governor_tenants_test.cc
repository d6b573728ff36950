#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "governor_story.h"
#include "policy/governor/reservation.h"
#include "policy/governor/tenancy.h"

// Users beside each other under one governor: what one of them has, asks for or says keeps no other
// from his share.
namespace plimsoll::policy {
namespace {

using Words = std::vector<std::string>;

constexpr unsigned kAlice = 1001, kBob = 1002, kCarol = 1003;

GovernorConfig config(unsigned jobs_max) {
  return {.line = mib(1000), .cores = 100, .jobs_max = jobs_max, .reserve = mib(50)};
}

unsigned admitted(const Words& words) { return static_cast<unsigned>(words.size()); }

// The same jobs, for each of their beginnings.
void wait_many(Story& story, unsigned tenant, unsigned from, unsigned count,
               const Expected& expected, double t = 0) {
  for (unsigned id = from; id < from + count; ++id) story.waits_for(tenant, id, expected, t);
}

// A running job is seen to have used so many seconds of CPU time in all.
void has_used(Story& story, unsigned id, double t, double seconds) {
  story.cpu[id] = seconds - 0.1;
  story.uses(id, t, 1);
}

TEST(GovernorTenants, WhoHasLeastIsNext) {
  Story story(config(4));
  wait_many(story, kAlice, 1, 6, {.mib = 10, .seconds = 100});
  EXPECT_EQ(admitted(story.rules(0)), 2u);  // the others are left to whoever comes
  wait_many(story, kBob, 11, 6, {.mib = 10, .seconds = 1}, 1);
  const Words words = story.rules(1);
  ASSERT_EQ(words.size(), 1u);
  EXPECT_GE(number_in(words[0]), 11u);
  // The longest first, but not before another who has less.
  story.ends(1, 2);
  ASSERT_EQ(story.rules(2).size(), 1u);
}

// Jobs that take all, one after the other, and are there for longer.
TEST(GovernorTenants, WhereNobodyHasAnythingItIsTheOthersTurn) {
  Story story(config(1000));
  wait_many(story, kAlice, 1, 5, {.mib = 990, .seconds = 10});
  EXPECT_EQ(story.rules(0).size(), 1u);
  story.waits_for(kBob, 100, {.mib = 990, .seconds = 10}, 1);
  EXPECT_EQ(story.rules(1), Words{});
  story.ends(1, 2);
  EXPECT_EQ(story.rules(2), Words{"admit 100"});
}

TEST(GovernorTenants, PlacesGoToEachInTurn) {
  Story story(config(100));
  wait_many(story, kAlice, 1, 200, {.mib = 1, .seconds = 100});
  wait_many(story, kBob, 1001, 200, {.mib = 1, .seconds = 1});
  unsigned alices = 0, bobs = 0;
  for (const std::string& word : story.rules(0)) ++(number_in(word) > 1000 ? bobs : alices);
  EXPECT_GE(alices + bobs, 95u);
  EXPECT_LE(alices, bobs + 1);
  EXPECT_LE(bobs, alices + 1);
}

TEST(GovernorTenants, WhoeverComesNextFindsAPlace) {
  Story story(config(100));
  wait_many(story, kAlice, 1, 200, {.mib = 1, .seconds = 10'000});
  EXPECT_EQ(admitted(story.rules(0)), 90u);
  EXPECT_EQ(story.governor.holding()->cause, HoldCause::places);
  EXPECT_NE(story.governor.holding()->reason.find("the 90 places of its user"), std::string::npos)
      << story.governor.holding()->reason;
  wait_many(story, kBob, 1001, 200, {.mib = 1, .seconds = 10'000}, 1);
  EXPECT_EQ(admitted(story.rules(1)), 8u);
  story.waits_for(kCarol, 2001, {.mib = 1}, 2);
  EXPECT_EQ(story.rules(2), Words{"admit 2001"});
}

TEST(GovernorTenants, OneOfTwoPlacesIsKeptForOthers) {
  Story story(config(2));
  wait_many(story, kAlice, 1, 2, {.mib = 1, .seconds = 10'000});
  EXPECT_EQ(admitted(story.rules(0)), 1u);
  EXPECT_EQ(story.governor.holding()->reason,
            "waits for the only place of its user: 2 jobs may run at once, and some places are "
            "kept for other users");
}

TEST(GovernorTenants, WhoeverTheMachineIsMayHaveAllOfIt) {
  Story story(config(10));
  for (unsigned id = 1; id <= 20; ++id) story.waits(id, {.mib = 1, .seconds = 100});
  EXPECT_EQ(admitted(story.rules(0)), 10u);
  EXPECT_EQ(story.governor.holding()->reason,
            "waits because 10 jobs are running, which is the limit");
}

// Neither the kinds that are tried, nor those of which nothing is known, nor the cores are one's.
TEST(GovernorTenants, ManyKindsThatCanNotStartKeepNobodyFromStarting) {
  Story story(config(1000));
  story.waits_for(kAlice, 1, {.mib = 450, .seconds = 1000});
  EXPECT_EQ(story.rules(0), Words{"admit 1"});
  wait_many(story, kAlice, 10, 100, {.mib = 900, .seconds = 1000});
  story.rules(1);
  story.waits_for(kBob, 1000, {.mib = 100, .seconds = 1}, 2);
  EXPECT_EQ(story.rules(2), Words{"admit 1000"});
}

TEST(GovernorTenants, WhatOneIsNotKnownToNeedIsNoReasonForAnotherToWait) {
  Story story(config(1000));
  wait_many(story, kAlice, 1, 20, {.mib = 10, .seconds = 60, .known = 0});
  const unsigned first = admitted(story.rules(0));
  EXPECT_LT(first, 20u);
  EXPECT_EQ(story.governor.holding()->cause, HoldCause::pace);
  story.waits_for(kBob, 100, {.mib = 10, .seconds = 60, .known = 0}, 0.1);
  EXPECT_EQ(story.rules(0.1), Words{"admit 100"});
}

TEST(GovernorTenants, CoresThatOneWantsAreNotTakenFromAnother) {
  GovernorConfig two = config(1000);
  two.cores = 2;
  Story story(two);
  wait_many(story, kAlice, 1, 50, {.mib = 1, .seconds = 60, .cores = 1});
  const unsigned first = admitted(story.rules(0));
  EXPECT_LT(first, 50u);
  EXPECT_EQ(story.governor.holding()->cause, HoldCause::cores);
  story.waits_for(kBob, 100, {.mib = 1, .seconds = 60, .cores = 1}, 1);
  EXPECT_EQ(story.rules(1), Words{"admit 100"});
}

// One computes without an end, the other now and then: his jobs start at once, several beside each
// other, for as long as he has less than his half.
TEST(GovernorTenants, WhoHasUsedLittleLatelyDoesNotWaitForCores) {
  GovernorConfig two = config(1000);
  two.cores = 2;
  Story story(two);
  wait_many(story, kAlice, 1, 50, {.mib = 1, .seconds = 600, .cores = 1});
  const Words first = story.rules(0);
  for (double t = 1; t <= 20; ++t) {
    for (const std::string& word : first) {
      has_used(story, number_in(word), t, t * 2 / static_cast<double>(first.size()));
    }
  }
  wait_many(story, kBob, 100, 4, {.mib = 1, .seconds = 1, .cores = 1}, 20);
  EXPECT_EQ(admitted(story.rules(20)), 4u);
  EXPECT_EQ(story.governor.holding()->cause, HoldCause::cores) << "of Alice's";
}

// The burst of one who computes as much as he can is over when he has had his part.
TEST(GovernorTenants, WhoHasUsedHisPartWaitsForCores) {
  GovernorConfig two = config(1000);
  two.cores = 2;
  Story story(two);
  story.waits_for(kAlice, 1, {.mib = 1, .seconds = 600, .cores = 1});
  wait_many(story, kBob, 100, 50, {.mib = 1, .seconds = 600, .cores = 1});
  const Words first = story.rules(0);
  EXPECT_LT(admitted(first), 12u) << "four times the cores, and one of Alice's";
  for (double t = 1; t <= 20; ++t) {
    for (const std::string& word : first) {
      const unsigned id = number_in(word);
      has_used(story, id, t, id == 1 ? t / 2 : t * 1.5 / static_cast<double>(first.size() - 1));
    }
  }
  EXPECT_EQ(story.rules(21), Words{});
  story.ends(number_in(first.back()), 21);
  EXPECT_EQ(story.rules(21), Words{}) << "he has more of the cores than his half";
}

// What is said of an external job that takes nothing: its hint is all of the line.
TEST(GovernorTenants, AHintHoldsUpAnotherForSecondsOnly) {
  Story story(config(1000));
  story.waits_for(kAlice, 1, {.mib = 1000, .seconds = 1e9, .spread = 500, .known = 0});
  EXPECT_EQ(story.rules(0), Words{"admit 1"});
  story.samples(0);
  story.waits_for(kBob, 2, {.mib = 60}, 1);
  EXPECT_EQ(story.rules(1), Words{});
  EXPECT_EQ(story.governor.holding()->cause, HoldCause::memory);
  const double held = to_seconds(kPromiseHeld);
  EXPECT_EQ(story.rules(held), Words{"admit 2"});
  // But it counts for her own.
  story.waits_for(kBob, 3, {.mib = 300}, held);
  story.waits_for(kAlice, 4, {.mib = 60}, held);
  EXPECT_EQ(story.rules(held + 1), Words{"admit 3"});
}

TEST(GovernorTenants, WhatWasLearntIsBelievedAsFarAsAFairShare) {
  Story story(config(1000));
  story.waits_for(kAlice, 1, {.mib = 900, .seconds = 1e9});
  EXPECT_EQ(story.rules(0), Words{"admit 1"});
  story.uses(1, 1, 10);
  story.samples(1);
  story.waits_for(kBob, 2, {.mib = 300}, 1);
  story.waits_for(kBob, 3, {.mib = 301}, 1);
  EXPECT_EQ(story.rules(1), Words{});
  const double held = to_seconds(kPromiseHeld);
  EXPECT_THAT(story.rules(held), ::testing::SizeIs(1));
  EXPECT_EQ(story.rules(held + 1), Words{});
}

TEST(GovernorTenants, AloneAHintCountsAsItDid) {
  Story story(config(1000));
  story.waits_for(kAlice, 1, {.mib = 900, .seconds = 1e9, .known = 0});
  EXPECT_EQ(story.rules(0), Words{"admit 1"});
  story.waits_for(kAlice, 2, {.mib = 200}, 1);
  EXPECT_EQ(story.rules(1000), Words{});
}

// Nor does what is told, be it within what the job was admitted with; and it ends nobody.
TEST(GovernorTenants, AWordIsNoMemoryOfAnother) {
  Story story(config(1000));
  story.waits_for(kAlice, 1, {.mib = 900, .seconds = 1e9, .known = 0});
  EXPECT_EQ(story.rules(0), Words{"admit 1"});
  for (double t = 1; t < 20; t += 1) {
    story.is_told_to_use(1, t, 900);
    story.samples(t);
    EXPECT_EQ(story.rules(t), Words{});
  }
  story.waits_for(kBob, 2, {.mib = 300, .seconds = 100}, 20);
  EXPECT_EQ(story.rules(20), Words{"admit 2"});
  for (double t = 21; t < 60; t += 1) {
    story.is_told_to_use(1, t, 900);
    story.uses(2, t, 300, 20);
    story.samples(t);
    EXPECT_EQ(story.rules(t), Words{}) << t;
  }
  EXPECT_FALSE(story.is_frozen(2));
  EXPECT_FALSE(story.is_frozen(1));
}

// From its first second on, whatever it is said to have and however fast that is said to rise.
TEST(GovernorTenants, AWordStopsNobodyOfAnotherUser) {
  Story story(config(1000));
  story.waits_for(kBob, 2, {.mib = 60, .seconds = 1e9});
  EXPECT_EQ(story.rules(0), Words{"admit 2"});
  story.waits_for(kAlice, 1, {.mib = 900, .seconds = 1e9, .known = 0}, 0.1);
  EXPECT_EQ(story.rules(0.1), Words{"admit 1"});
  for (double t = 0.5; t < 30; t += 0.5) {
    story.is_told_to_use(1, t, t < 5 ? 200 * t : 1000, 0.1);
    story.uses(2, t, 60 + t * 5);
    story.samples(t);
    EXPECT_EQ(story.rules(t), Words{}) << t;
  }
}

TEST(GovernorTenants, ClaimsHoldUpWhoeverMakesThem) {
  Story story(config(1000));
  story.waits_for(kAlice, 1, {.mib = 100, .seconds = 1e9});
  EXPECT_EQ(story.rules(0), Words{"admit 1"});
  story.is_told_to_use(1, 1, 5000);
  story.samples(1);
  story.waits_for(kAlice, 2, {.mib = 100}, 1);
  story.waits_for(kBob, 3, {.mib = 100}, 1);
  EXPECT_EQ(story.rules(1), Words{"admit 3"});
}

// One waits for what is his share while the other, who has more, could fill the gaps for ever.
TEST(GovernorTenants, WhoHasMoreThanHisShareWaitsForWhoHasLess) {
  Story story(config(1000));
  wait_many(story, kAlice, 1, 30, {.mib = 90, .seconds = 100});
  ASSERT_EQ(story.rules(0).size(), 10u);
  for (unsigned id = 1; id <= 10; ++id) story.uses(id, 30, 90);
  story.samples(30);
  story.waits_for(kBob, 100, {.mib = 300, .seconds = 100}, 30);
  EXPECT_EQ(story.rules(30), Words{});
  EXPECT_EQ(story.governor.holding()->cause, HoldCause::memory);
  for (unsigned id = 1; id <= 3; ++id) {
    story.ends(id, 30.0 + id);
    EXPECT_EQ(story.rules(30.0 + id), id < 3 ? Words{} : Words{"admit 100"}) << id;
  }
}

// Else he has the machine.
TEST(GovernorTenants, NobodyWaitsForWhatNobodyWants) {
  Story story(config(1000));
  story.waits_for(kBob, 100, {.mib = 10, .seconds = 1000});
  EXPECT_EQ(story.rules(0), Words{"admit 100"});
  wait_many(story, kAlice, 1, 30, {.mib = 90, .seconds = 100}, 1);
  EXPECT_GE(admitted(story.rules(1)), 9u);
}

// A reserved job of one who has a job that never ends would never start, and everybody would wait
// for it.
TEST(GovernorTenants, AGiantHoldsUpOthersForAMinuteAtATime) {
  Story story(config(1000));
  story.waits_for(kAlice, 1, {.mib = 50, .seconds = 1e9});
  EXPECT_EQ(story.rules(0), Words{"admit 1"});
  story.uses(1, 1, 50);
  story.samples(1);
  story.waits_for(kAlice, 2, {.mib = 990, .seconds = 60}, 1);
  EXPECT_EQ(story.rules(1), Words{});
  unsigned next = 10;
  double held = 0;
  const double end = 2 * to_seconds(kReservedJobPatienceMin) + 2 * to_seconds(kReservedJobDrain);
  for (double t = 2; t < end; t += 1) {
    story.uses(1, t, 50);
    story.samples(t);
    story.waits_for(kBob, next, {.mib = 50, .seconds = 10}, t);
    if (story.rules(t).empty()) {
      held += 1;
      story.governor.withdraw(story.job(next));
    } else {
      story.ends(next, t + 0.5);
    }
    ++next;
  }
  EXPECT_GT(held, 30);
  EXPECT_LE(held, 2 * to_seconds(kReservedJobDrain) + 2);
}

TEST(GovernorTenants, WhoMustRunAloneHoldsUpOthersForAMinute) {
  Story story(config(1000));
  story.waits(1, {.mib = 50, .seconds = 1e9}, 0, 0, kEvictionsMax + 1, true, Tenant{kAlice});
  EXPECT_EQ(story.rules(0), Words{"admit 1"});
  story.waits_for(kAlice, 2, {.mib = 50}, 1);
  story.waits_for(kBob, 3, {.mib = 50}, 1);
  EXPECT_EQ(story.rules(1), Words{});
  EXPECT_EQ(story.governor.holding()->cause, HoldCause::alone);
  EXPECT_EQ(story.rules(to_seconds(kReservedJobDrain) + 1), Words{"admit 3"});
}

TEST(Tenancy, LeavesATenthOfThePlacesAndHalfOfAFew) {
  const auto places = [](std::size_t all) {
    return Tenancy({.line = 1, .cores = 1, .places = all}, 1).places_of(Tenant{kAlice});
  };
  EXPECT_EQ(places(1), 1u);
  EXPECT_EQ(places(2), 1u);
  EXPECT_EQ(places(3), 2u);
  EXPECT_EQ(places(8), 6u);
  EXPECT_EQ(places(100), 90u);
  EXPECT_EQ(Tenancy({.line = 1, .cores = 1, .places = 100}, 1).places_of(kHost), 100u);
}

}  // namespace
}  // namespace plimsoll::policy
