#include "supervisor/doctor/probes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::supervisor {
namespace {

using guardian::Birth;
using report::CheckState;
using ::testing::HasSubstr;

constexpr Birth kIn = Birth::in_group;
constexpr Birth kMoved = Birth::moved;

TEST(JudgeSpawn, IsContentWithABirthInTheGroup) {
  EXPECT_EQ(judge_spawn({.v2 = true, .first = kIn}).state, CheckState::ok);
}

TEST(JudgeSpawn, TellsAHostWithoutV2FromAFaultOfTheKernel) {
  const auto on_v1 = judge_spawn({.v2 = false, .first = kMoved});
  const auto on_v2 = judge_spawn({.v2 = true, .first = kMoved});
  EXPECT_EQ(on_v1.state, CheckState::degraded);
  EXPECT_EQ(on_v2.state, CheckState::degraded);
  EXPECT_THAT(on_v1.value, HasSubstr("no v2 tree"));
  EXPECT_THAT(on_v2.value, HasSubstr("cgroup.kill"));
}

TEST(JudgeSpawnAfterKill, RatesByTheFirstBirthThatFailed) {
  const struct {
    Births births;
    CheckState state;
    const char* value;
  } kCases[] = {
      {{.v2 = true, .first = kIn, .after_neighbour = kIn, .below_killed = kIn},
       CheckState::ok,
       "in which cgroup.kill was written"},
      {{.v2 = true, .first = kIn, .after_neighbour = kIn},
       CheckState::ok,
       "after another group was killed"},
      {{.v2 = true, .first = kIn, .after_neighbour = kIn, .below_killed = kMoved},
       CheckState::degraded,
       "dies at once"},
      {{.v2 = true, .first = kIn, .after_neighbour = kMoved},
       CheckState::degraded,
       "next job's group"},
  };
  for (const auto& c : kCases) {
    const report::Check check = judge_spawn_after_kill(c.births);
    EXPECT_EQ(check.state, c.state) << c.value;
    EXPECT_THAT(check.value, HasSubstr(c.value));
    EXPECT_EQ(check.cost.empty(), c.state == CheckState::ok);
  }
}

}  // namespace
}  // namespace plimsoll::supervisor
