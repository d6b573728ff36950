#include "supervisor/run/run_id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace plimsoll::supervisor {
namespace {

using namespace std::chrono_literals;

TEST(RunId, BeginsWithTheTimeOfDay) {
  EXPECT_THAT(new_run_id(WallTime(1'700'000'000s)),
              testing::MatchesRegex("20231114-221320-0000[0-9a-f]{4}"));
  EXPECT_THAT(new_run_id(WallTime(1'700'000'000s + 999'999'999ns)),
              testing::MatchesRegex("20231114-221320-ffff[0-9a-f]{4}"));
}

// `last` is the greatest: runs of a script begin many times a second.
RC_GTEST_PROP(RunId, IsGreaterTheLaterARunBegins, ()) {
  const auto first = *rc::gen::inRange<std::int64_t>(0, 4'000'000'000'000'000'000);
  const auto gap =
      *rc::gen::inRange<std::int64_t>(20'000, 2'000'000'000);  // ns; starts take longer
  RC_ASSERT(new_run_id(WallTime(std::chrono::nanoseconds(first))) <
            new_run_id(WallTime(std::chrono::nanoseconds(first + gap))));
}

TEST(RunId, IsNoOthersThatBeginsAtTheSameMoment) {
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(new_run_id(WallTime(1'700'000'000s)));
  EXPECT_FALSE(ids[0] == ids[1] && ids[1] == ids[2]);
}

}  // namespace
}  // namespace plimsoll::supervisor
