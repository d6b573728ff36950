#include "cli/command/jobs_at_once.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace plimsoll::cli {
namespace {

TEST(ParseJobsAtOnce, ANumberOrAShareOfTheCores) {
  EXPECT_EQ(parse_jobs_at_once("4"), 4u);
  EXPECT_EQ(parse_jobs_at_once("0"), 0u);
  const auto cores = parse_jobs_at_once("100%");
  ASSERT_TRUE(cores);
  EXPECT_GE(*cores, 1u);
  EXPECT_EQ(parse_jobs_at_once("200%"), *cores * 2);
  EXPECT_EQ(parse_jobs_at_once("+3"), *cores + 3);
  EXPECT_EQ(parse_jobs_at_once("-100000"), 1u);
  EXPECT_EQ(parse_jobs_at_once("1%"), std::max<std::uint64_t>(*cores / 100, 1));
}

TEST(ParseJobsAtOnce, RefusesAnythingElse) {
  for (const char* text : {"", "x", "1.5", "+", "-", "%", "0%", "+50%", "1000001", "4 ", "--1"}) {
    const auto jobs = parse_jobs_at_once(text);
    ASSERT_FALSE(jobs) << text;
    EXPECT_THAT(jobs.error().message(), testing::HasSubstr("expected a number from 0"));
  }
}

}  // namespace
}  // namespace plimsoll::cli
