#include "kernel/procfs/membership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::procfs {
namespace {

using ::testing::Optional;

EnvTag mark(const std::string& run, const std::string& job) {
  return {.run = run,
          .space = 4026531836,
          .guardian = {.pid = 10, .start = 100},
          .supervisor = {.pid = 11, .start = 101},
          .job = job};
}

TEST(MarkText, IsReadBack) {
  const EnvTag one = mark("20261121-035916-3f2a91c4", "job-7.2");
  EXPECT_EQ(to_text(one), "20261121-035916-3f2a91c4/4026531836/10.100/11.101/job-7.2");
  EXPECT_THAT(parse_tag(to_text(one)), Optional(one));
}

TEST(MarkText, IsNothingIfItIsNotWhole) {
  for (const std::string_view text :
       {"", "/", "run", "run/1/10.100/11.101", "run/1/10.100/11.101/", "/1/10.100/11.101/job-1",
        "run/10.100/11.101/job-1", "run/x/10.100/11.101/job-1", "run/1/10/11.101/job-1",
        "run/1/0.100/11.101/job-1", "run/1/10.100/-1.1/job-1", "run/1/10.100/11.101/job/1",
        "run/1/99999999999.1/11.101/job-1", "run/1/1.x/11.101/job-1"}) {
    EXPECT_FALSE(parse_tag(text)) << text;
  }
}

TEST(MarkValue, KeepsTheMarksOfRunsAround) {
  const std::string outer = with_tag("", mark("outer", "job-1"));
  const std::string both = with_tag(outer, mark("inner", "job-2"));
  EXPECT_THAT(find_mark(both, mark("outer", "")), Optional(mark("outer", "job-1")));
  EXPECT_THAT(find_mark(both, mark("inner", "")), Optional(mark("inner", "job-2")));
  EXPECT_THAT(last_mark(both), Optional(mark("inner", "job-2")));
  EXPECT_FALSE(find_mark(both, mark("other", "")));
}

TEST(MarkValue, StaysBounded) {
  std::string value;
  for (std::size_t i = 0; i < 3 * kMarksMax; ++i) {
    value = with_tag(value, mark("run" + std::to_string(i), "job-1"));
  }
  EXPECT_EQ(static_cast<std::size_t>(std::count(value.begin(), value.end(), ' ')), kMarksMax - 1);
  EXPECT_THAT(last_mark(value), Optional(mark("run47", "job-1")));
  EXPECT_FALSE(find_mark(value, mark("run0", "")));
}

// Anybody may write the name of a run that lives into his environment.
TEST(MarkValue, OfAnotherRunOfTheSameNameIsNot) {
  const EnvTag ours = mark("run", "job-1");
  EnvTag of_space = ours, of_guardian = ours, of_supervisor = ours;
  of_space.space = 1;
  of_guardian.guardian.start = 999;
  of_supervisor.supervisor.pid = 999;
  for (const EnvTag& forged : {of_space, of_guardian, of_supervisor}) {
    EXPECT_FALSE(is_same_run(forged, ours));
    EXPECT_FALSE(find_mark(to_text(forged), ours));
    EXPECT_THAT(find_mark(to_text(forged) + " " + to_text(ours), ours), Optional(ours));
  }
}

TEST(MarkValue, PassesOverWhatOthersHavePutThere) {
  EXPECT_THAT(
      find_mark("nonsense  /// " + to_text(mark("run", "job-1")) + " more", mark("run", "")),
      Optional(mark("run", "job-1")));
  EXPECT_FALSE(last_mark("nonsense"));
  EXPECT_FALSE(last_mark(""));
}

}  // namespace
}  // namespace plimsoll::procfs
