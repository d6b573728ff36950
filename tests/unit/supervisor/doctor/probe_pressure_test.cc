#include "supervisor/doctor/probes.h"

#include <gtest/gtest.h>

namespace plimsoll::supervisor {
namespace {

using report::CheckState;

TEST(JudgeTriggers, RatesByTheShortestWindow) {
  EXPECT_EQ(judge_triggers(std::chrono::milliseconds(100)).state, CheckState::ok);
  EXPECT_EQ(judge_triggers(std::chrono::milliseconds(500)).state, CheckState::ok);
  EXPECT_EQ(judge_triggers(std::chrono::seconds(2)).state, CheckState::degraded);
  EXPECT_EQ(judge_triggers(std::nullopt).state, CheckState::missing);
}

}  // namespace
}  // namespace plimsoll::supervisor
