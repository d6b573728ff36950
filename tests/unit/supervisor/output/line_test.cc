#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stage.h"
#include "supervisor/output/collector.h"

namespace plimsoll::output {
namespace {

TEST(Line, LinesArePrintedAsTheyCome) {
  TestPipe pipe;
  Stage stage({.order = Order::line, .out = pipe.write.get()});
  Job first = stage.open(1, "1"), second = stage.open(2, "2");
  second.says("a\nhal");
  EXPECT_EQ(read_exactly(pipe.read.get(), 4), "2\ta\n");
  first.says("b\n");
  EXPECT_EQ(read_exactly(pipe.read.get(), 4), "1\tb\n");
  second.says("f\n");
  EXPECT_EQ(read_exactly(pipe.read.get(), 7), "2\thalf\n");
  first.ends();
  second.ends();
  stage.drain();
}

TEST(Line, StderrGoesToStderr) {
  Stage stage({.order = Order::line});
  Job job = stage.open(1);
  job.complains("oh\n");
  job.says("text\n");
  job.ends();
  stage.drain();
  EXPECT_EQ(stage.printed(), "text\n");
  EXPECT_EQ(stage.printed_err(), "oh\n");
}

TEST(Line, AMissingLastNewlineIsAdded) {
  Stage stage({.order = Order::line});
  Job job = stage.open(1);
  job.says("one\ntwo");
  job.ends();
  stage.drain();
  EXPECT_EQ(stage.printed(), "one\ntwo\n");
}

TEST(Line, AnOverlongLineIsBroken) {
  Stage stage({.order = Order::line});
  Job job = stage.open(1, "t");
  job.says(std::string(2 * kLineBytesMax + 100, 'x') + "\nend\n");
  job.ends();
  stage.drain();
  const std::string printed = stage.printed();
  EXPECT_EQ(std::count(printed.begin(), printed.end(), 'x'), 2 * kLineBytesMax + 100);
  EXPECT_THAT(printed, ::testing::EndsWith("x\nt\tend\n"));
  // Where exactly depends on how it was read; never before the limit.
  std::string_view rest = printed;
  for (std::size_t end = rest.find('\n'); rest.size() - end > 2 * kLineBytesMax;
       end = rest.find('\n')) {
    EXPECT_GE(end, kLineBytesMax);
    rest.remove_prefix(end + 1);
  }
}

TEST(Line, ALongLineIsNotTornByOthers) {
  TestPipe pipe;
  Stage stage({.order = Order::line, .out = pipe.write.get(), .err = pipe.write.get()});
  Job first = stage.open(1), second = stage.open(2);
  const std::string line = std::string(10 * kBlockBytes, 'x') + "\n";
  first.says(line);
  first.complains("other\n");
  second.says("other\n");
  first.ends();
  second.ends();
  std::string printed = read_exactly(pipe.read.get(), line.size() + 12);
  stage.drain();
  EXPECT_THAT(printed, ::testing::HasSubstr(line));
}

TEST(Line, DiscardedLinesAreOutAlready) {
  Stage stage({.order = Order::line});
  Job job = stage.open(1);
  job.says("out\nrest");
  job.ends(Disposition::discard);
  stage.drain();
  EXPECT_EQ(stage.printed(), "out\nrest\n");
}

// The job waits for the reader as on a pipe of its own; what waits in between is bounded.
TEST(Line, ASlowReaderIsNotRunAheadOf) {
  TestPipe pipe;
  Stage stage({.order = Order::line, .out = pipe.write.get()});
  const std::string line = std::string(4095, 'x') + '\n';
  constexpr std::size_t kLines = 2 * kBacklogMax / 4096;
  Job job = stage.open(1);
  ASSERT_EQ(::fcntl(job.out.get(), F_SETFL, O_NONBLOCK), 0);
  std::size_t said = 0;
  // As much as it takes: a pipe takes so short a line whole or not at all.
  const auto say = [&] {
    while (said < kLines && ::write(job.out.get(), line.data(), line.size()) > 0) ++said;
  };
  const auto received = [&] { return job.capture.so_far().out.count; };
  while (received() < kBacklogMax) say();
  // Nothing is read of it any more, however often it is tried.
  for (int i = 0; i < 1000; ++i) say();
  EXPECT_LT(received(), kBacklogMax + 4 * kBlockBytes);
  EXPECT_LT(said, kLines);
  constexpr std::size_t kAtOnce = 16;
  std::string lines;
  for (std::size_t i = 0; i < kAtOnce; ++i) lines += line;
  for (std::size_t seen = 0; seen < kLines; seen += kAtOnce) {
    say();
    ASSERT_EQ(read_exactly(pipe.read.get(), lines.size()), lines);
  }
  job.ends();
  stage.drain();
}

}  // namespace
}  // namespace plimsoll::output
