#include "kernel/cgroup/events.h"

#include <gtest/gtest.h>

namespace plimsoll::cgroup {
namespace {

TEST(ParseCgroupEvents, TakesBothKeysInAnyOrderAndPassesOverOthers) {
  const struct {
    const char* text;
    GroupEvents expected;
  } kGood[] = {
      {"populated 1\nfrozen 0\n", {.populated = true, .frozen = false}},
      {"populated 0\nfrozen 1\n", {.populated = false, .frozen = true}},
      {"frozen 1\npopulated 1", {.populated = true, .frozen = true}},
      {"populated 1\n", {.populated = true, .frozen = false}},
      {"new 7\npopulated 0\nother thing\nfrozen 0\n", {.populated = false, .frozen = false}},
  };
  for (const auto& good : kGood) {
    const auto events = parse_cgroup_events(good.text);
    ASSERT_TRUE(events) << good.text;
    EXPECT_EQ(*events, good.expected) << good.text;
  }
}

TEST(ParseCgroupEvents, IsNotSatisfiedWithoutAnAnswer) {
  for (const char* bad : {"", "\n", "frozen 0\n", "populated\n", "populated yes\n", "populated 2\n",
                          "populated -1\n", "unpopulated 1\n"}) {
    EXPECT_FALSE(parse_cgroup_events(bad)) << bad;
  }
}

}  // namespace
}  // namespace plimsoll::cgroup
