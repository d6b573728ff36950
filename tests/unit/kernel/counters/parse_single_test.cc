#include "kernel/counters/parse_single.h"

#include <gtest/gtest.h>

#include "kernel/counters/scale.h"

namespace plimsoll::counters {
namespace {

using namespace std::chrono_literals;

TEST(ParseCount, OneNumberOrNothing) {
  EXPECT_EQ(parse_count("41\n"), 41u);
  EXPECT_EQ(parse_count("0"), 0u);
  EXPECT_EQ(parse_bytes("4096\n"), Bytes{4096});
  for (const auto* none : {"max\n", "", "\n", "-1", "12 13", "1.5", "99999999999999999999"}) {
    EXPECT_EQ(parse_count(none), std::nullopt) << none;
    EXPECT_EQ(parse_bytes(none), std::nullopt) << none;
  }
}

TEST(ParsePidsEvents, CountsRefusedForks) {
  EXPECT_EQ(parse_pids_events("max 12\n"), 12u);
  EXPECT_EQ(parse_pids_events("max.imposed 3\nmax 0\n"), 0u);
  EXPECT_EQ(parse_pids_events("max max\n"), std::nullopt);
  EXPECT_EQ(parse_pids_events(""), std::nullopt);
}

TEST(ParseFrozenTime, InMicroseconds) {
  EXPECT_EQ(parse_frozen_time("frozen_usec 1500000\n"), 1500ms);
  EXPECT_EQ(parse_frozen_time("other 4\n"), std::nullopt);
}

static_assert(scaled(3, 1ms) == 3ms);
static_assert(scaled(UINT64_MAX, 1ns) == Duration::max());
static_assert(scaled(9'223'372'036'854'775'807U, 1ns) == Duration::max());
static_assert(scaled(9'223'372'036'854'775U, 1us) == 9'223'372'036'854'775us);

}  // namespace
}  // namespace plimsoll::counters
