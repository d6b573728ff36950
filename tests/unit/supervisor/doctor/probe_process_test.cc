#include "supervisor/doctor/probes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::supervisor {
namespace {

using report::Check;
using report::CheckState;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ParseEffectiveCapabilities, TakesTheLineOfTheEffectiveOnes) {
  EXPECT_EQ(parse_effective_capabilities("Name:\tx\nCapPrm:\t01\nCapEff:\t000001fffeffffff\n"),
            0x1fffeffffffU);
  EXPECT_EQ(parse_effective_capabilities("CapEff: 0"), 0U);
}

TEST(ParseEffectiveCapabilities, IsNotSatisfiedWithoutANumber) {
  for (const char* text : {"", "CapPrm:\t1\n", "CapEff:\n", "CapEff:\txyz\n", "CapEff:\t1 2\n",
                           "CapEff:\t-1\n", "CapEff:\t11111111111111111\n"}) {
    EXPECT_FALSE(parse_effective_capabilities(text)) << text;
  }
}

TEST(JudgeCapabilities, MissesAllWithoutAnyAndNoneWithAll) {
  EXPECT_THAT(judge_capabilities(0, Caller::user), Each(Field(&Check::state, CheckState::missing)));
  EXPECT_THAT(judge_capabilities(~0ULL, Caller::user), Each(Field(&Check::state, CheckState::ok)));
}

TEST(JudgeCapabilities, DoesNotTellRootToBecomeRoot) {
  EXPECT_THAT(judge_capabilities(0, Caller::user), Each(Field(&Check::remedy, StartsWith("root"))));
  EXPECT_THAT(judge_capabilities(0, Caller::root),
              Each(Field(&Check::remedy, StartsWith("a container or unit"))));
}

TEST(JudgeCapabilities, CountsTrafficWithSysAdminOrTheTwoOfTheirOwn) {
  constexpr std::uint64_t kNetAdmin = 1ULL << 12, kSysAdmin = 1ULL << 21, kBpf = 1ULL << 39;
  const auto state = [](std::uint64_t effective) {
    return judge_capabilities(effective, Caller::user)[1].state;
  };
  EXPECT_EQ(state(kSysAdmin), CheckState::ok);
  EXPECT_EQ(state(kBpf | kNetAdmin), CheckState::ok);
  EXPECT_EQ(state(kBpf), CheckState::missing);
  EXPECT_EQ(state(kNetAdmin), CheckState::missing);
}

TEST(ParseHidepid, KnowsTheNumbersAndTheNames) {
  const struct {
    const char* options;
    Hiding expected;
  } kCases[] = {
      {"rw", Hiding::nobody},
      {"rw,hidepid=0", Hiding::nobody},
      {"rw,hidepid=off", Hiding::nobody},
      {"rw,gid=4,hidepid=1", Hiding::contents},
      {"rw,hidepid=noaccess", Hiding::contents},
      {"rw,hidepid=2", Hiding::processes},
      {"rw,hidepid=invisible,gid=4", Hiding::processes},
      {"rw,hidepid=ptraceable", Hiding::processes},
  };
  for (const auto& c : kCases) {
    const std::string line = std::string("22 27 0:21 / /proc rw,nosuid - proc proc ") + c.options;
    EXPECT_EQ(parse_hidepid(line + "\n"), c.expected) << c.options;
  }
}

TEST(ParseHidepid, LooksAtTheLastMountAtProcAlone) {
  EXPECT_EQ(parse_hidepid("1 2 0:1 / /proc rw - proc proc rw,hidepid=2\n"
                          "3 1 0:2 / /proc rw shared:7 - proc proc rw\n"
                          "4 2 0:3 / /jail/proc rw - proc proc rw,hidepid=2\n"
                          "5 2 0:4 / /proc/x rw - tmpfs tmpfs rw\n"),
            Hiding::nobody);
  EXPECT_EQ(parse_hidepid("- proc hidepid=2\n - proc "), Hiding::nobody);
}

TEST(JudgeLimit, IsContentWithEnoughAndWithNone) {
  EXPECT_EQ(judge_limit(LimitKind::nofile, std::nullopt).state, CheckState::ok);
  EXPECT_EQ(judge_limit(LimitKind::nofile, 1 << 20).state, CheckState::ok);
  const Check few = judge_limit(LimitKind::nofile, 1024);
  EXPECT_EQ(few.state, CheckState::degraded);
  EXPECT_THAT(few.cost, HasSubstr("16 jobs at once"));
  EXPECT_EQ(judge_limit(LimitKind::nproc, 100).state, CheckState::degraded);
}

}  // namespace
}  // namespace plimsoll::supervisor
