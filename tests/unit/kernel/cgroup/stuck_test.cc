#include "kernel/cgroup/stuck.h"

#include <gtest/gtest.h>

namespace plimsoll::cgroup {
namespace {

TEST(ParseProcessStat, TakesNamesThatHoldAnything) {
  const struct {
    const char* text;
    const char* comm;
    char state;
  } kGood[] = {
      {"12 (sleep) S 1 12 12 0 -1", "sleep", 'S'}, {"12 (a b) D 1", "a b", 'D'},
      {"12 (:) Z 9 ) R 1 2", ":) Z 9 ", 'R'},      {"12 () Z", "", 'Z'},
      {"12 (new\nline) T 1", "new\nline", 'T'},
  };
  for (const auto& good : kGood) {
    const auto stat = parse_process_stat(good.text);
    ASSERT_TRUE(stat) << good.text;
    EXPECT_EQ(stat->comm, good.comm) << good.text;
    EXPECT_EQ(stat->state, good.state) << good.text;
  }
}

TEST(ParseProcessStat, RefusesTextThatIsCutOff) {
  for (const char* bad : {"", "12", "12 (sleep", "12 (sleep)", "12 (sleep) ", ")(", "12 )S("}) {
    EXPECT_FALSE(parse_process_stat(bad)) << bad;
  }
}

}  // namespace
}  // namespace plimsoll::cgroup
