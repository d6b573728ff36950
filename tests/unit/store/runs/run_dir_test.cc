#include "store/runs/run_dir.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include "base/unique_fd.h"
#include "report/json.h"
#include "runs.h"

namespace plimsoll::report {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct RunDirTest : ::testing::Test {
  [[nodiscard]] std::vector<std::string> ids() const {
    std::vector<std::string> found;
    auto runs = list_runs(place.runs());
    if (!runs) return {"<error>"};
    for (const RunEntry& run : *runs) found.push_back(run.id);
    return found;
  }
  [[nodiscard]] UniqueFd locked(const std::string& id) const {
    UniqueFd dir(::open((place.runs() + "/" + id).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    EXPECT_EQ(::flock(dir.get(), LOCK_EX | LOCK_NB), 0);
    return dir;
  }
  [[nodiscard]] std::string error_of(const std::string& name) const {
    const auto found = find_run(place.runs(), name);
    return found ? "found " + found->id : found.error().message();
  }

  RunsPlace place;
};

TEST_F(RunDirTest, NoDirectoryHasNoRuns) {
  EXPECT_THAT(ids(), IsEmpty());
  EXPECT_THAT(error_of("last"), HasSubstr("no run is recorded"));
}

TEST_F(RunDirTest, ListsInOrderWhatAreRuns) {
  place.make_run("20240102-1");
  place.make_run("20240101-1");
  place.make("notes/meta.json", "{}");
  place.make("torn/meta.json", R"({"schema":"plimsoll.meta/1","run":)");
  place.make("file", "");
  EXPECT_THAT(ids(), ElementsAre("20240101-1", "20240102-1"));
}

TEST_F(RunDirTest, TheLockTellsTheRunningFromTheDead) {
  place.make("a/meta.json", to_json(RunMeta{.run = "a", .command_line = {}}, RunMark::begun));
  place.make("b/meta.json", to_json(RunMeta{.run = "b", .command_line = {}}, RunMark::begun));
  const UniqueFd lock = locked("b");
  const auto runs = list_runs(place.runs());
  ASSERT_TRUE(runs);
  EXPECT_THAT(*runs, ElementsAre(Field(&RunEntry::state, RunState::died),
                                 Field(&RunEntry::state, RunState::running)));
}

TEST_F(RunDirTest, FiguresAreThoseOfTheSummary) {
  place.make_run("a");
  RunSummary summary;
  summary.run = "a";
  summary.makespan = 90s;
  summary.jobs = 3;
  summary.outcomes = {{policy::Outcome::exited, 2}, {policy::Outcome::skipped, 1}};
  summary.pauses = 4;
  summary.evictions = 5;
  summary.line = 2_GiB;
  place.make("a/summary.json", to_json(summary, JsonForm::pretty));
  const auto run = find_run(place.runs(), "a");
  ASSERT_TRUE(run);
  ASSERT_TRUE(run->figures);
  EXPECT_EQ(run->figures->makespan, 90s);
  EXPECT_EQ(run->figures->outcomes.at("exited"), 2U);
  EXPECT_EQ(run->figures->pauses, 4U);
  EXPECT_EQ(run->figures->evictions, 5U);
  EXPECT_EQ(run->figures->line, 2_GiB);
  EXPECT_EQ(run->figures->used_peak, std::nullopt);
}

TEST_F(RunDirTest, FindsByWhatUsersSay) {
  for (const char* id : {"20240101-10", "20240101-1", "20240202-1"}) place.make_run(id);
  EXPECT_EQ(error_of("last"), "found 20240202-1");
  EXPECT_EQ(error_of("last-0"), "found 20240202-1");
  EXPECT_EQ(error_of("last-1"), "found 20240101-10");
  EXPECT_EQ(error_of("last-2"), "found 20240101-1");
  EXPECT_EQ(error_of("last-3"),
            "there is no run \"last-3\"; 3 runs are recorded, `plimsoll runs` lists them");
  EXPECT_THAT(error_of("last-x"), HasSubstr("there is no run \"last-x\""));
  EXPECT_EQ(error_of("20240202"), "found 20240202-1");
  EXPECT_EQ(error_of("20240101-1"), "found 20240101-1");  // whole ids come first
  EXPECT_EQ(error_of(place.runs() + "/20240101-10"), "found 20240101-10");
  EXPECT_EQ(error_of("20240101"), "\"20240101\" matches several runs: 20240101-1, 20240101-10");
  EXPECT_THAT(error_of("2025"), HasSubstr("there is no run \"2025\"; the last one is 20240202-1"));
  EXPECT_THAT(error_of("./none"), HasSubstr("No such file"));
  EXPECT_THAT(error_of(""), HasSubstr("matches several runs:"));
}

TEST_F(RunDirTest, ABeginningRunWithoutAFileIsNotTheLast) {
  place.make_run("a");
  fs::create_directory(place.runs() + "/b");
  EXPECT_EQ(error_of("last"), "found a");
  EXPECT_EQ(error_of("last-1"),
            "there is no run \"last-1\"; 1 run is recorded, `plimsoll runs` lists them");
}

TEST_F(RunDirTest, RunsOfOneCommandDoNotPushOutTheOthers) {
  place.make_run("1");
  for (const char* id : {"2", "3", "4"}) {
    place.make(std::string(id) + "/meta.json",
               to_json(RunMeta{.run = id, .kind = RunKind::single}, RunMark::finished));
  }
  place.make_run("5");
  prune_runs(place.runs(), {.single_runs = 2});
  EXPECT_THAT(ids(), ElementsAre("1", "3", "4", "5"));
}

TEST_F(RunDirTest, OldestGoFirstButNoneThatRuns) {
  for (const char* id : {"1", "2", "3", "4"}) place.make_run(id);
  {
    const UniqueFd lock = locked("1");
    prune_runs(place.runs(), {.runs = 2});
    EXPECT_THAT(ids(), ElementsAre("1", "4"));
  }
  prune_runs(place.runs(), {.runs = 1});
  EXPECT_THAT(ids(), ElementsAre("4"));
}

TEST_F(RunDirTest, SizeIsBoundedToo) {
  for (const char* id : {"1", "2", "3"}) place.make_run(id, 1 << 20);
  prune_runs(place.runs(), {.bytes = 3_MiB});
  EXPECT_THAT(ids(), ElementsAre("2", "3"));
  prune_runs(place.runs(), {.bytes = 3_MiB});
  EXPECT_THAT(ids(), SizeIs(2));
}

TEST_F(RunDirTest, WhatIsNoRunIsNotRemoved) {
  place.make("thesis/chapter", "years of work");
  place.make_run("1");
  prune_runs(place.runs(), {.runs = 0});
  EXPECT_THAT(ids(), IsEmpty());
  EXPECT_EQ(place.text("thesis/chapter"), "years of work");
}

// A run whose meta.json was on its way to the disk is never listed; nor is it kept for ever.
TEST_F(RunDirTest, WhatALossOfPowerHasLeftIsRemovedInTime) {
  place.make("20240101-1/meta.json", "");
  place.make("20240101-1/events.jsonl", std::string(100, '\0'));
  fs::create_directory(place.dir / "runs/20240101-2");
  place.make("20240101-3/meta.json", "");
  place.make("20240101-3/thesis", "years of work");
  prune_runs(place.runs());
  EXPECT_TRUE(fs::exists(place.dir / "runs/20240101-1/events.jsonl"));  // it may just begin
  for (const char* id : {"20240101-1", "20240101-2", "20240101-3"}) {
    fs::last_write_time(place.dir / "runs" / id, fs::file_time_type::clock::now() - 2h);
  }
  prune_runs(place.runs());
  EXPECT_FALSE(fs::exists(place.dir / "runs/20240101-1"));
  EXPECT_FALSE(fs::exists(place.dir / "runs/20240101-2"));
  EXPECT_EQ(place.text("20240101-3/thesis"), "years of work");
}

}  // namespace
}  // namespace plimsoll::report
