#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stage.h"
#include "supervisor/output/collector.h"

namespace plimsoll::output {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Group, PrintsAJobWhenItIsOverInTheOrderOfTheirEnds) {
  Stage stage;
  Job first = stage.open(1);
  Job second = stage.open(2);
  first.says("1: begins\n");
  second.says("2: begins\n");
  first.complains("1: what?\n");
  second.complains("2: what?\n");
  second.says("2: ends\n");
  second.ends();
  first.says("1: ends\n");
  first.ends();
  stage.drain();
  EXPECT_EQ(stage.printed(), "2: begins\n2: ends\n1: begins\n1: ends\n");
  EXPECT_EQ(stage.printed_err(), "2: what?\n1: what?\n");
  EXPECT_THAT(stage.troubles, IsEmpty());
}

TEST(Group, StdoutComesBeforeStderrWhereBothAreTheSame) {
  TestPipe pipe;
  Stage stage({.out = pipe.write.get(), .err = pipe.write.get()});
  Job job = stage.open(1);
  job.complains("error\n");
  job.says("text\n");
  job.ends();
  stage.drain();
  EXPECT_EQ(read_exactly(pipe.read.get(), 11), "text\nerror\n");
}

TEST(Group, BytesAreAsTheyWere) {
  using namespace std::string_literals;
  Stage stage;
  const std::string bytes = "\0\xff no newline"s;
  Job first = stage.open(1);
  first.says(bytes);
  first.ends();
  Job second = stage.open(2);
  second.says("2");
  second.ends();
  stage.drain();
  EXPECT_EQ(stage.printed(), bytes + "2");
}

TEST(Group, TagsStandInFrontOfEveryLineAndEndTheLast) {
  Stage stage;
  Job first = stage.open(1, "a b");
  first.says("one\ntwo");
  first.complains("oh\n");
  first.ends();
  Job second = stage.open(2, "");
  second.says("three\n");
  second.ends();
  stage.drain();
  EXPECT_EQ(stage.printed(), "a b\tone\na b\ttwo\n\tthree\n");
  EXPECT_EQ(stage.printed_err(), "a b\toh\n");
}

TEST(Group, LongOutputIsWholeAndItsTagsToo) {
  Stage stage;
  std::string text, tagged;
  for (int i = 0; text.size() < 10 * kBlockBytes; ++i) {
    const std::string line = std::string(static_cast<std::size_t>(i % 200), 'x') + "\n";
    text += line;
    tagged += "tag\t" + line;
  }
  Job job = stage.open(1, "tag");
  job.says(text);
  job.ends();
  stage.drain();
  EXPECT_EQ(stage.printed(), tagged);
}

TEST(Group, WhatIsDiscardedIsNotPrinted) {
  Stage stage;
  Job first = stage.open(1);
  first.says("lost\n");
  first.ends(Disposition::discard);
  Job again = stage.open_again(1, 2);
  again.says("kept\n");
  again.ends();
  {
    const Job dropped = stage.open(2);
  }
  stage.drain();
  EXPECT_EQ(stage.printed(), "kept\n");
}

TEST(Group, TellsHowMuchWasReceived) {
  Stage stage;
  Job job = stage.open(1);
  job.says("12345");
  job.complains("678");
  // The pipes are still open here, so the figure can't be final yet.
  EXPECT_EQ(job.capture.finish(Disposition::keep), std::nullopt);
  job.exits();
  stage.until([&] { return !stage.ended.empty(); });
  EXPECT_THAT(stage.ended, ElementsAre(Field(&Ended::received, Received{{5}, {3}})));
  EXPECT_EQ(stage.ended.front().job, JobId{1});
}

// Which of the two ways it is depends on which thread is quicker; each attempt is told in one way.
TEST(Group, FinishTellsItAtOnceWherePipesHaveEnded) {
  Stage stage;
  std::size_t told = 0;
  unsigned jobs = 0;
  for (; told == 0 && jobs < 10'000; ++jobs) {
    Job job = stage.open(jobs + 1);
    job.says("12");
    job.exits();
    stage.until([&] { return job.capture.so_far().out == Bytes{2}; }, Duration(0));
    if (const auto received = job.capture.finish(Disposition::keep)) {
      EXPECT_EQ(received->out, Bytes{2});
      ++told;
    }
  }
  stage.drain();
  EXPECT_EQ(told, 1u);
  EXPECT_EQ(stage.ended.size() + told, jobs);
}

TEST(Group, AFileOfTheJobsOwnIsWrittenDirectly) {
  Stage stage;
  const std::string path = stage.directory.path() / "out.txt";
  write_whole(UniqueFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)).get(),
              "old old");
  Job job = stage.open({.job = JobId{1}, .out = path});
  job.says("new");
  job.complains("collected\n");
  job.ends();
  stage.drain();
  EXPECT_EQ(read_text_at(AT_FDCWD, path).value_or("?"), "new");
  EXPECT_EQ(stage.printed(), "");
  EXPECT_EQ(stage.printed_err(), "collected\n");
}

TEST(Group, BothOutputsMayShareAFile) {
  Stage stage;
  const std::string path = stage.directory.path() / "log";
  Job job = stage.open({.job = JobId{1}, .out = path, .err = path});
  job.says("1");
  job.complains("2");
  job.says("3");
  job.exits();
  EXPECT_EQ(job.capture.finish(Disposition::keep), Received{});
  stage.drain();
  EXPECT_EQ(read_text_at(AT_FDCWD, path).value_or("?"), "123");
}

TEST(Group, AFileThatCannotBeMadeIsAnError) {
  Stage stage;
  const auto opened = stage.collector->open({.job = JobId{1}, .err = "/nowhere/at/all"});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message(), HasSubstr("stderr: open /nowhere/at/all: No such file"));
}

TEST(Group, ANamedPipeWithoutReaderIsAnErrorAndNotAWait) {
  Stage stage;
  const std::string path = stage.directory.path() / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(stage.collector->open({.job = JobId{1}, .out = path}));
}

TEST(Group, AWriterThatEscapedIsNotAwaited) {
  Stage stage({.escape_grace = std::chrono::milliseconds(1)});
  Job job = stage.open(1);
  job.says("what is there");
  job.capture.finish(Disposition::keep);  // job.out stays open: the daemon
  stage.drain();
  EXPECT_EQ(stage.printed(), "what is there");
  EXPECT_THAT(stage.ended, SizeIs(1));
}

TEST(Group, NothingIsLeftInTheSpoolsDirectory) {
  Stage stage;
  Job job = stage.open(1);
  job.says("spooled\n");
  EXPECT_TRUE(std::filesystem::is_empty(stage.directory.path()));
  job.ends();
  stage.drain();
  EXPECT_TRUE(std::filesystem::is_empty(stage.directory.path()));
}

TEST(Group, AMissingSpoolDirectoryIsToldAtTheStart) {
  auto loop = loop::Loop::create();
  ASSERT_TRUE(loop);
  Heard heard;
  const auto started = Collector::start(*loop, {.spool_dir = "/nowhere"}, heard);
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message(), HasSubstr("use /nowhere for spooled output"));
}

}  // namespace
}  // namespace plimsoll::output
