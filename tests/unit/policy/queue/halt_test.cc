#include "policy/queue/halt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::policy {
namespace {

using ::testing::HasSubstr;

TEST(ParseHalt, ReadsWhatItPrints) {
  for (const auto* text : {"soon,fail=1", "now,fail=1", "now,success=3", "soon,done=10",
                           "now,fail=1%", "soon,done=100%", "now,fail=18446744073709551615"}) {
    const auto policy = parse_halt(text);
    ASSERT_TRUE(policy) << text;
    EXPECT_EQ(to_text(*policy), text);
  }
  EXPECT_EQ(*parse_halt("now,fail=20%"),
            (HaltPolicy{.urgency = Urgency::now, .on = HaltOn::fail, .threshold = JobPercent{20}}));
}

TEST(ParseHalt, ReadsTheOlderWordsOfGnuParallel) {
  EXPECT_EQ(to_text(*parse_halt("1")), "soon,fail=1");
  EXPECT_EQ(to_text(*parse_halt("2")), "now,fail=1");
  EXPECT_EQ(to_text(*parse_halt("30%")), "soon,fail=30%");
}

TEST(ParseHalt, RefusesAnythingElse) {
  for (const auto* text :
       {"", "3", "0%", "101%", "soon", "soon,fail", "soon,fail=", "soon,fail=0", "soon,fail=0%",
        "soon,fail=101%", "soon,fail=-1", "soon,fail=1.5", "later,fail=1", "soon,broken=1",
        "soon,fail=1 ", "soon fail=1", "fail=1", "soon,fail=%", "soon,fail=1,now,fail=2"}) {
    const auto policy = parse_halt(text);
    ASSERT_FALSE(policy) << text;
    EXPECT_THAT(policy.error().message(), HasSubstr("soon,fail=1"));
  }
}

TEST(HaltReason, CountsWhatThePolicyNames) {
  const Tally tally{.failed = 2, .succeeded = 3, .entered = 20};
  struct Row {
    const char* policy;
    bool halts;
  };
  for (const auto& [text, halts] :
       {Row{"soon,fail=2", true}, Row{"soon,fail=3", false}, Row{"soon,success=3", true},
        Row{"soon,success=4", false}, Row{"soon,done=5", true}, Row{"soon,done=6", false},
        Row{"soon,fail=10%", true}, Row{"soon,fail=11%", false}, Row{"soon,done=25%", true},
        Row{"soon,done=26%", false}}) {
    EXPECT_EQ(halt_reason(*parse_halt(text), tally).has_value(), halts) << text;
  }
  EXPECT_EQ(halt_reason(*parse_halt("soon,fail=10%"), tally),
            "halted by soon,fail=10%: 2 of 20 jobs failed");
}

TEST(HaltReason, NothingHappenedIsNoPercentage) {
  EXPECT_FALSE(halt_reason(*parse_halt("now,fail=1%"), {.entered = 0}));
  EXPECT_FALSE(halt_reason(*parse_halt("now,fail=1%"), {.entered = 1000000}));
}

}  // namespace
}  // namespace plimsoll::policy
