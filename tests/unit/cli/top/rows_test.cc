#include "cli/top/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/cli/top/top_scene.h"

namespace plimsoll::cli::top {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<unsigned> numbers(const std::vector<RunView>& runs, const RowChoice& choice) {
  std::vector<unsigned> numbers;
  for (const Row& row : rows_of(runs, choice)) {
    numbers.push_back(static_cast<unsigned>(row.job->job));
  }
  return numbers;
}

std::vector<RunView> three_jobs() {
  std::vector<RunView> runs(1);
  auto a = running_job(1, 10_MiB), b = running_job(2, 30_MiB), c = running_job(3, 20_MiB);
  a.cores = 0.1;
  b.cores = 2;
  c.cores.reset();
  b.growth = 5e6;
  take_status(runs[0], status_with({a, b, c}), kStart);
  return runs;
}

TEST(TopRows, AreInTheOrderOfEachColumn) {
  const auto runs = three_jobs();
  struct Case {
    SortKey sort;
    std::vector<unsigned> natural, reversed;
  };
  for (const Case& each : {
           Case{SortKey::age, {1, 2, 3}, {3, 2, 1}},
           Case{SortKey::used, {2, 3, 1}, {1, 3, 2}},
           Case{SortKey::estimate, {2, 3, 1}, {1, 3, 2}},
           Case{SortKey::growth, {2, 1, 3}, {3, 1, 2}},
           // What is not known is at the end either way.
           Case{SortKey::cores, {2, 1, 3}, {1, 2, 3}},
           Case{SortKey::job, {1, 2, 3}, {3, 2, 1}},
       }) {
    EXPECT_EQ(numbers(runs, {.sort = each.sort}), each.natural) << name_of(each.sort);
    EXPECT_EQ(numbers(runs, {.sort = each.sort, .order = SortOrder::reversed}), each.reversed)
        << name_of(each.sort);
  }
}

TEST(TopRows, HaveTheNextJobLastAndWithItsReason) {
  auto status = status_with({paused_job(1, policy::PauseCause::memory), running_job(2, 1_MiB)});
  status.holding = supervisor::HoldingStatus{JobId{9}, "link", "waits for memory", {}};
  std::vector<RunView> runs(1);
  take_status(runs[0], status, kStart);
  EXPECT_THAT(numbers(runs, {.sort = SortKey::state}), ElementsAre(2, 1, 9));
  EXPECT_THAT(numbers(runs, {.sort = SortKey::state, .order = SortOrder::reversed}),
              ElementsAre(1, 2, 9));
  EXPECT_EQ(rows_of(runs, {}).back().job->reason, "waits for memory");
}

TEST(TopRows, AreThoseThatContainTheFilter) {
  auto named = running_job(3, 1_MiB);
  named.name = "Link-Chrome";
  std::vector<RunView> runs(1);
  take_status(runs[0],
              status_with({running_job(1, 1_MiB), paused_job(2, policy::PauseCause::cores), named}),
              kStart);
  EXPECT_THAT(numbers(runs, {.filter = "chrome"}), ElementsAre(3));
  EXPECT_THAT(numbers(runs, {.filter = "WORK 1"}), ElementsAre(1));
  EXPECT_THAT(numbers(runs, {.filter = "paused"}), ElementsAre(2));
  EXPECT_THAT(numbers(runs, {.filter = "cores"}), ElementsAre(2));
  EXPECT_THAT(numbers(runs, {.filter = "nothing"}), IsEmpty());
}

TEST(TopRows, AreOfTheRunThatWasChosen) {
  std::vector<RunView> runs(3);  // the last one has not answered
  take_status(runs[0], status_with({running_job(1, 1_MiB)}), kStart);
  take_status(runs[1], status_with({running_job(1, 2_MiB), running_job(2, 1_MiB)}), kStart);
  EXPECT_EQ(rows_of(runs, {}).size(), 3U);
  EXPECT_THAT(numbers(runs, {.run = 1}), ElementsAre(1, 2));
  EXPECT_THAT(numbers(runs, {.run = 2}), IsEmpty());
}

TEST(TopRows, TellIoBetweenTwoAnswersOfOneAttempt) {
  std::vector<RunView> runs(1);
  auto a = running_job(1, 1_MiB), b = running_job(2, 1_MiB), c = running_job(3, 1_MiB);
  a.io = 10_MiB;
  b.io = 10_MiB;
  take_status(runs[0], status_with({a, b, c}), kStart);
  EXPECT_FALSE(rows_of(runs, {})[0].io_rate);
  a.io = 30_MiB;
  b.io = 1_MiB;
  b.attempt = 2;
  c.io = 5_MiB;
  take_status(runs[0], status_with({a, b, c}), kStart + 2s);
  const auto rows = rows_of(runs, {.sort = SortKey::io});
  EXPECT_EQ(rows[0].io_rate, to_double(10_MiB));
  EXPECT_FALSE(rows[1].io_rate);
  EXPECT_FALSE(rows[2].io_rate);
}

TEST(TopSortKey, IsParsedAndComesRound) {
  for (const auto& [key, name] : kSortKeys) {
    EXPECT_EQ(*parse_sort_key(name), key);
    EXPECT_EQ(name_of(key), name);
  }
  EXPECT_EQ(key_after(SortKey::age), SortKey::used);
  EXPECT_EQ(key_after(SortKey::job), SortKey::age);
  EXPECT_THAT(parse_sort_key("size").error().message(),
              HasSubstr("found \"size\", expected one of age, used, estimate"));
}

}  // namespace
}  // namespace plimsoll::cli::top
