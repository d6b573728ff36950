#include "supervisor/write_looks.h"

#include <gtest/gtest.h>

#include <vector>

namespace plimsoll::supervisor {
namespace {

using namespace std::chrono_literals;
using namespace plimsoll::literals;

constexpr Instant kBegin{10s};
constexpr std::size_t kLarge = 127;  // processes of a job: two are read at once

// Reads as many jobs as may be now, each of which has so many processes.
std::vector<JobId> read(WriteLooks& looks, Instant now, std::size_t processes) {
  std::vector<JobId> read;
  while (const auto job = looks.next(now)) {
    looks.has_read(processes);
    read.push_back(*job);
  }
  return read;
}

TEST(WriteLooks, WritersAreAskedForWhereSpaceMovesOrIsShort) {
  const policy::DiskFloor holds{.path = "/", .floor = 100_MiB, .rule = policy::DiskRule::hold};
  EXPECT_TRUE(asks_for_writers(holds, 500_MiB, 499_MiB));
  EXPECT_TRUE(asks_for_writers(holds, 400_MiB, 500_MiB)) << "somebody has removed what he wrote";
  EXPECT_FALSE(asks_for_writers(holds, 500_MiB, 500_MiB - 1_KiB));
  EXPECT_FALSE(asks_for_writers(holds, 500_MiB, std::nullopt));
  EXPECT_FALSE(asks_for_writers(holds, std::nullopt, 500_MiB));
  EXPECT_TRUE(asks_for_writers(holds, 99_MiB, 99_MiB)) << "who is paused is to be the right one";
  // Where it is only told of, a disk may be nearly full for ever.
  const policy::DiskFloor tells{.path = "/", .floor = 100_MiB, .rule = policy::DiskRule::tell};
  EXPECT_FALSE(asks_for_writers(tells, 500_MiB, 400_MiB));
  EXPECT_TRUE(asks_for_writers(tells, 100_MiB, 99_MiB));
  EXPECT_FALSE(asks_for_writers(tells, 99_MiB, 10_MiB));
}

TEST(WriteLooks, SoManyProcessesAreReadAtOnceAndTheOthersAfterAPause) {
  WriteLooks looks;
  for (std::uint64_t i = 1; i <= 80; ++i) looks.ask(JobId{i}, std::nullopt);
  std::size_t turns = 0, jobs = 0;
  Instant now = kBegin;
  for (std::optional<Instant> then = now; then; then = looks.goes_on(), ++turns) {
    now = *then;
    const auto turn = read(looks, now, kLarge);
    EXPECT_EQ(turn.size(), 2u);
    jobs += turn.size();
  }
  EXPECT_EQ(jobs, 80u);
  EXPECT_EQ(turns, 40u);
  EXPECT_EQ(now, kBegin + 39 * WriteLooks::kPause);
}

TEST(WriteLooks, WhoWasLookedAtLongestAgoComesFirst) {
  WriteLooks looks;
  looks.ask(JobId{1}, kBegin + 2s);
  looks.ask(JobId{2}, kBegin + 1s);
  looks.ask(JobId{3}, std::nullopt);
  looks.ask(JobId{4}, kBegin + 3s);
  looks.ask(JobId{3}, std::nullopt);  // it waits already
  const Instant now = kBegin + 4s;
  EXPECT_EQ(read(looks, now, kLarge), (std::vector{JobId{3}, JobId{2}}));
  EXPECT_EQ(read(looks, now + WriteLooks::kPause, kLarge), (std::vector{JobId{1}, JobId{4}}));
}

TEST(WriteLooks, WhoComesByItselfWaitsForThoseBeforeIt) {
  WriteLooks looks;
  EXPECT_TRUE(looks.is_next(JobId{1}, kBegin, kBegin)) << "nobody else waits";
  looks.has_read(kLarge);
  looks.ask(JobId{2}, kBegin - 2s);
  EXPECT_FALSE(looks.is_next(JobId{3}, kBegin - 1s, kBegin)) << "it is after the other";
  EXPECT_EQ(read(looks, kBegin, kLarge), (std::vector{JobId{2}}));
  EXPECT_FALSE(looks.is_next(JobId{3}, kBegin - 1s, kBegin)) << "so many were read";
  EXPECT_EQ(looks.goes_on(), kBegin + WriteLooks::kPause);
  EXPECT_TRUE(looks.is_next(JobId{3}, kBegin - 1s, kBegin + WriteLooks::kPause));
  EXPECT_FALSE(looks.goes_on()) << "nobody waits";
}

TEST(WriteLooks, AJobOfManyProcessesIsReadInOneGo) {
  WriteLooks looks;
  looks.ask(JobId{1}, std::nullopt);
  EXPECT_EQ(read(looks, kBegin, 10 * WriteLooks::kProcessesAtOnce), (std::vector{JobId{1}}));
  looks.ask(JobId{2}, std::nullopt);
  EXPECT_TRUE(read(looks, kBegin, 1).empty());
}

}  // namespace
}  // namespace plimsoll::supervisor
