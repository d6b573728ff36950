#include "supervisor/output/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "stage.h"
#include "support/faulty_disk.h"

namespace plimsoll::output {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string text_of(const fs::path& path) { return read_text_at(AT_FDCWD, path).value_or("?"); }

TEST(ResultName, KeepsWhatIsHarmless) {
  for (const char* const id : {"1", "build all", "a.b", "ünï", "-x", "~", "A\\B", "*"}) {
    EXPECT_EQ(result_name(id), id);
  }
}

TEST(ResultName, EscapesWhatIsNot) {
  EXPECT_EQ(result_name(""), "%empty");
  EXPECT_EQ(result_name("."), "%2e");
  EXPECT_EQ(result_name(".."), "%2e.");
  EXPECT_EQ(result_name("../../etc"), "%2e.%2f..%2fetc");
  EXPECT_EQ(result_name("/"), "%2f");
  EXPECT_EQ(result_name("a/b"), "a%2fb");
  EXPECT_EQ(result_name("100%"), "100%25");
  EXPECT_EQ(result_name("%empty"), "%25empty");
  EXPECT_EQ(result_name(std::string("a\0b\n\x7f", 5)), "a%00b%0a%7f");
}

TEST(ResultName, CutsWhatIsTooLongAtACharacter) {
  const std::string longer(kResultNameMax + 1, 'x');
  EXPECT_EQ(result_name(longer.substr(1)), longer.substr(1));
  EXPECT_THAT(result_name(longer), SizeIs(kResultNameMax));
  EXPECT_THAT(result_name(longer), HasSubstr("xx%~"));
  EXPECT_NE(result_name(longer + "1"), result_name(longer + "2"));
  std::string umlauts;
  while (umlauts.size() < 300) umlauts += "ü";
  EXPECT_THAT(result_name("a" + umlauts), HasSubstr("ü%~"));
  EXPECT_THAT(result_name(umlauts), HasSubstr("ü%~"));
}

RC_GTEST_PROP(ResultName, IsOneNameAndOnlyOnes, (const std::string& one, const std::string& two)) {
  const std::string name = result_name(one);
  RC_ASSERT(!name.empty() && name.size() <= kResultNameMax && name[0] != '.');
  RC_ASSERT(name.find('/') == std::string::npos && name.find('\0') == std::string::npos);
  RC_ASSERT((name == result_name(two)) == (one == two));
}

struct ResultsTest : ::testing::Test {
  [[nodiscard]] fs::path path() const { return directory.path() / "made/on the way"; }
  TemporaryDirectory directory;
};

TEST_F(ResultsTest, ArePrintedAndKept) {
  Stage stage({.results_dir = path()});
  Job job = stage.open({.job = JobId{3}, .name = "a/b", .tag = "tag"});
  job.says("text");
  job.complains("oh\n");
  job.ends();
  Job silent = stage.open(4);
  silent.ends();
  stage.drain();
  EXPECT_EQ(stage.printed(), "tag\ttext\n");
  EXPECT_EQ(text_of(path() / "a%2fb/stdout"), "text");
  EXPECT_EQ(text_of(path() / "a%2fb/stderr"), "oh\n");
  EXPECT_EQ(text_of(path() / "a%2fb/seq"), "3\n");
  EXPECT_EQ(text_of(path() / "4/stdout"), "");
}

TEST_F(ResultsTest, AreOfTheLastAttempt) {
  Stage stage({.results_dir = path()});
  Job first = stage.open(1);
  first.says("first, and longer\n");
  first.ends(Disposition::discard);
  Job again = stage.open_again(1, 2);
  again.says("again\n");
  again.ends();
  stage.drain();
  EXPECT_EQ(text_of(path() / "1/stdout"), "again\n");
}

TEST_F(ResultsTest, ALinkInTheWayIsNotFollowed) {
  fs::create_directories(path() / "2");
  fs::create_directory(directory.path() / "elsewhere");
  fs::create_directory_symlink(directory.path() / "elsewhere", path() / "1");
  fs::create_symlink(directory.path() / "elsewhere/file", path() / "2/stdout");
  Stage stage({.results_dir = path()});
  for (unsigned i = 1; i <= 2; ++i) {
    Job job = stage.open(i);
    job.says("text\n");
    job.ends();
  }
  stage.drain();
  EXPECT_TRUE(fs::is_empty(directory.path() / "elsewhere"));
  EXPECT_EQ(text_of(path() / "2/stdout"), "text\n");
  EXPECT_EQ(stage.printed(), "text\ntext\n");
  ASSERT_THAT(stage.troubles, SizeIs(1));
  EXPECT_EQ(stage.troubles[0].job, JobId{1});
}

TEST_F(ResultsTest, ADirectoryThatCannotBeMadeIsToldAtTheStart) {
  const auto loop = loop::Loop::create();
  ASSERT_TRUE(loop);
  Heard heard;
  const auto started = Collector::start(
      *loop, {.spool_dir = directory.path(), .results_dir = "/proc/results"}, heard);
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message(), HasSubstr("--results: make /proc/results"));
}

// What a job has written, by its files; nothing where one of them is not there.
std::optional<std::string> kept(const fs::path& results) {
  const auto text = read_text_at(AT_FDCWD, results / "job/stdout");
  const auto number = read_text_at(AT_FDCWD, results / "job/seq");
  const bool has_err = fs::exists(results / "job/stderr");
  if (!text || !number || *number != "1\n" || !has_err) return std::nullopt;
  return *text;
}

// Whether all calls were well.
bool keep(const fs::path& path, const Disk& disk, Durability durability) {
  auto results = Results::in(path, durability, disk);
  auto files = results ? results->create(JobId{1}, "job") : pass(std::move(results));
  std::string_view text = "what a job says";
  return files && files->out.append(text) && files->out.finish() && files->err.finish();
}

TEST_F(ResultsTest, WhatIsForcedSurvivesALossOfPower) {
  using namespace plimsoll::faults;
  for (const Fault fault : kFaults) {
    for (const Survival survival : kSurvivals) {
      bool met = true;
      for (std::size_t call = 0; met; ++call) {
        const TemporaryDirectory place;
        FaultyDisk disk(place.path());
        disk.fail_after(call, fault);
        const bool is_kept = keep(place.path(), disk, Durability::synced);
        met = disk.calls() > call;
        disk.crash(survival);
        ASSERT_TRUE(!is_kept || kept(place.path()) == "what a job says");
      }
    }
  }
  // Else this would show nothing.
  const TemporaryDirectory place;
  FaultyDisk disk(place.path());
  ASSERT_TRUE(keep(place.path(), disk, Durability::written));
  disk.crash({Names::all, Data::synced});
  EXPECT_NE(kept(place.path()), "what a job says");
}

}  // namespace
}  // namespace plimsoll::output
