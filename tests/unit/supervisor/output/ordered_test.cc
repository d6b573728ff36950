#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stage.h"
#include "supervisor/output/collector.h"

namespace plimsoll::output {
namespace {

const Config kOrdered{.order = Order::ordered};

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(Ordered, PrintsInTheOrderOfInput) {
  Stage stage(kOrdered);
  Job first = stage.open(1), second = stage.open(2), third = stage.open(3);
  third.says("3\n");
  third.ends();
  second.says("2\n");
  second.ends();
  first.says("1\n");
  first.ends();
  stage.drain();
  EXPECT_EQ(stage.printed(), "1\n2\n3\n");
}

TEST(Ordered, TheJobWhoseTurnItIsIsPrintedWhileItRuns) {
  TestPipe pipe;
  Stage stage({.order = Order::ordered, .out = pipe.write.get()});
  Job first = stage.open(1), second = stage.open(2);
  second.says("2: early\n");
  first.says("1: one\n");
  EXPECT_EQ(read_exactly(pipe.read.get(), 7), "1: one\n");
  first.says("1: half");
  first.ends();
  EXPECT_EQ(read_exactly(pipe.read.get(), 16), "1: half2: early\n");
  second.says("2: live\n");
  EXPECT_EQ(read_exactly(pipe.read.get(), 8), "2: live\n");
  second.ends();
  stage.drain();
}

// As when a run is resumed.
TEST(Ordered, OnlyJobsOfTheRunAreAwaited) {
  TestPipe pipe;
  Stage stage({.order = Order::ordered, .jobs = {JobId{3}, JobId{7}}, .out = pipe.write.get()});
  Job seventh = stage.open(7), third = stage.open(3);
  seventh.says("7: early\n");
  third.says("3: one\n");
  EXPECT_EQ(read_exactly(pipe.read.get(), 7), "3: one\n");
  third.ends();
  EXPECT_EQ(read_exactly(pipe.read.get(), 9), "7: early\n");
  seventh.says("7: live\n");
  EXPECT_EQ(read_exactly(pipe.read.get(), 8), "7: live\n");
  seventh.ends();
  stage.drain();
}

TEST(Ordered, AJobThatWillNotRunIsNotAwaited) {
  Stage stage(kOrdered);
  Job third = stage.open(3);
  third.says("3\n");
  third.ends();
  stage.collector->close(JobId{2});
  Job first = stage.open(1);
  first.says("1: thrown away\n");
  first.ends(Disposition::discard);
  stage.collector->close(JobId{1});
  stage.drain();
  EXPECT_THAT(stage.printed(), ::testing::EndsWith("3\n"));
}

TEST(Ordered, AnotherAttemptKeepsTheTurn) {
  Stage stage(kOrdered);
  Job second = stage.open(2);
  Job third = stage.open(3);
  second.says("lost\n");
  second.ends(Disposition::discard);
  third.says("3\n");
  third.ends();
  Job again = stage.open_again(2, 2);
  again.says("2\n");
  again.ends();
  Job first = stage.open(1);
  first.says("1\n");
  first.ends();
  stage.drain();
  EXPECT_EQ(stage.printed(), "1\n2\n3\n");
}

TEST(Ordered, WhatWasPrintedOfADiscardedAttemptEndsItsLine) {
  TestPipe pipe;
  Stage stage({.order = Order::ordered, .out = pipe.write.get()});
  Job job = stage.open(1);
  // Longer than what is held back for the sake of whole lines.
  const std::string half(kLineBytesMax + kBlockBytes, 'x');
  job.says(half);
  EXPECT_EQ(read_exactly(pipe.read.get(), 10), "xxxxxxxxxx");
  job.ends(Disposition::discard);
  Job again = stage.open_again(1, 2);
  again.says("again\n");
  again.ends();
  std::string rest;
  while (!rest.ends_with("again\n")) rest += read_exactly(pipe.read.get(), 1);
  EXPECT_EQ(rest.substr(rest.find('\n')), "\nagain\n");
  stage.drain();
}

TEST(Ordered, GapsHoldNothingUpAtTheEnd) {
  Stage stage(kOrdered);
  Job seventh = stage.open(7), fourth = stage.open(4);
  seventh.says("7\n");
  seventh.ends();
  stage.collector->drain();
  fourth.says("4\n");
  fourth.ends();
  stage.until([&] { return stage.drained; });
  EXPECT_EQ(stage.printed(), "4\n7\n");
}

TEST(Ordered, BytesOfALongLineAreAsTheyWere) {
  Stage stage(kOrdered);
  const std::string line(3 * kLineBytesMax + 17, 'x');
  Job job = stage.open(1);
  job.says(line);
  job.ends();
  stage.drain();
  EXPECT_EQ(stage.printed(), line);
}

TEST(Ordered, ManyFinishedJobsWaitWithoutDescriptors) {
  constexpr unsigned kJobs = 5000;
  Stage stage(kOrdered);
  Job first = stage.open(1);
  const std::size_t before = open_descriptors();
  std::size_t told = 0;
  std::string expected = "1\n";
  for (unsigned i = 2; i <= kJobs; ++i) {
    Job job = stage.open(i);
    job.says(std::to_string(i) + "\n");
    job.complains("e\n");
    job.exits();
    if (job.capture.finish(Disposition::keep)) ++told;
    // At most this many are on their way at a time, as with a real limit of running jobs.
    stage.until([&] { return told + stage.ended.size() + 50 > i; });
    expected += std::to_string(i) + "\n";
  }
  stage.until([&] { return told + stage.ended.size() == kJobs - 1; });
  EXPECT_EQ(stage.printed(), "");
  EXPECT_LE(open_descriptors(), before + 1);  // the spool
  first.says("1\n");
  first.ends();
  stage.drain();
  EXPECT_EQ(stage.printed(), expected);
}

}  // namespace
}  // namespace plimsoll::output
