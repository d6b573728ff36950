#include "cli/progress/frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "report/plain.h"

namespace plimsoll::cli {
namespace {

using namespace plimsoll::literals;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

supervisor::RunningJob job(unsigned number, const char* name, Duration ran, Bytes used,
                           double cores) {
  return {{.job = JobId{number},
           .state = policy::JobState::running,
           .attempt = 1,
           .ran = ran,
           .frozen = {},
           .used = used,
           .cores = cores,
           .estimate = used + used,
           .remaining = {}},
          name,
          std::string("run ") + name,
          {}};
}

supervisor::RunStatus some_run() {
  supervisor::RunStatus status;
  status.run = "20261121-035916-3f2a91c4";
  status.elapsed = 83s;
  status.jobs = {.total = 120,
                 .succeeded = 35,
                 .failed = 2,
                 .skipped = 0,
                 .running = 2,
                 .paused = 1,
                 .waiting = 80};
  status.line = 8_GiB;
  status.used = 6_GiB;
  status.cores = 16;
  status.cores_used = 4;
  status.remaining = 245s;
  status.running = {job(31, "link chrome", 62s, 3_GiB, 1), job(32, "codegen", 40s, 800_MiB, 0),
                    job(38, "38", 4s, 512_MiB, 3)};
  status.running[1].state = policy::JobState::frozen;
  status.running[1].frozen = 21s;
  return status;
}

std::string plain_text(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST(Frame, TellsARunAtAGlance) {
  EXPECT_EQ(plain_text(frame_lines(some_run(), {})),
            "  37/120 done, 2 failed, 2 running, 1 paused, 80 waiting  1:23, about 4 min left\n"
            "  memory [#############.....] 6.00 GiB of 8.00 GiB   cores [##......] 4.0 of 16\n"
            "  state      time    memory  estimate  cores  job\n"
            "  running    1:02  3.00 GiB  6.00 GiB    1.0  link chrome\n"
            "  paused     1:01   800 MiB  1.56 GiB         codegen\n"
            "  running    0:04   512 MiB  1.00 GiB    3.0  38: run 38\n");
}

TEST(Frame, HasBarsOfLinesWhereTheTerminalKnowsThem) {
  const auto bar = [](int full, bool half, int rest) {
    std::string text;
    for (int i = 0; i < full; ++i) text += "\u2501";
    if (half) text += "\u2578";
    for (int i = 0; i < rest; ++i) text += "\u2500";
    return text;
  };
  EXPECT_EQ(frame_lines(some_run(), {.glyphs = Glyphs::unicode})[1],
            "  memory " + bar(15, false, 5) + " 6.00 GiB of 8.00 GiB   cores " + bar(2, true, 7) +
                " 4.0 of 16");
}

// A run that holds nobody may be slow all the same.
TEST(Frame, TellsWhatOtherProgramsUse) {
  supervisor::RunStatus status = some_run();
  status.cores_of_others = 1.94;
  EXPECT_EQ(frame_lines(status, {})[1],
            "  memory [######...] 6.00 GiB of 8.00 GiB   cores [#...] 4.0 of 16, others 1.9");
  EXPECT_THAT(frame_lines(status, {.colour = report::Colour::ansi})[1],
              HasSubstr("\x1b[33m, others 1.9\x1b[0m"));
  EXPECT_THAT(status_line(status), HasSubstr("cores 4.0 of 16, other programs 1.9; 1:23"));
  EXPECT_EQ(frame_lines(status, {.width = 66})[1], frame_lines(some_run(), {.width = 66})[1]);
  // What is too little to be told moves nothing.
  status.cores_of_others = 0.1;
  EXPECT_EQ(frame_lines(status, {})[1],
            "  memory [######...] 6.00 GiB of 8.00 GiB   cores [#...] 4.0 of 16");
  EXPECT_EQ(status_line(status), status_line(some_run()));
}

TEST(Frame, ColoursWhatWantsAttention) {
  supervisor::RunStatus status = some_run();
  status.used = 9_GiB;
  const auto lines = frame_lines(status, {.colour = report::Colour::ansi});
  EXPECT_THAT(lines[0], HasSubstr("\x1b[31m2 failed\x1b[0m"));
  EXPECT_THAT(lines[0], HasSubstr("\x1b[33m1 paused\x1b[0m"));
  EXPECT_THAT(lines[1], HasSubstr("\x1b[31m9.00 GiB of 8.00 GiB\x1b[0m"));
  EXPECT_THAT(lines[4], HasSubstr("\x1b[33mpaused\x1b[0m"));
}

TEST(Frame, SaysWhyNothingStarts) {
  supervisor::RunStatus status = some_run();
  status.holding = supervisor::HoldingStatus{
      JobId{40}, "webkit", "waits for memory: it may need 3.1 GiB, 2 GiB are free", {}};
  EXPECT_EQ(frame_lines(status, {})[2],
            "  next: webkit waits for memory: it may need 3.1 GiB, 2 GiB are free");
  status.holding->reason = "waits until nothing else runs";
  status.holding->numbers = {{"line_bytes", 8.0 * (1 << 30)}, {"stood_s", 2.5}};
  EXPECT_EQ(frame_lines(status, {})[2],
            "  next: webkit waits until nothing else runs (line 8.00 GiB, stood 2.50 s)");
}

TEST(Frame, SaysWhyAJobIsPaused) {
  supervisor::RunStatus status = some_run();
  status.running[1].paused_for = policy::PauseCause::memory;
  EXPECT_EQ(frame_lines(status, {})[4],
            "  paused     1:01   800 MiB  1.56 GiB         codegen (memory)");
  EXPECT_EQ(frame_lines(status, {.width = 44})[4], "  paused     1:01   800 MiB  code.. (memory)");
}

// Where it is read by a program, or from a file.
TEST(Frame, LeavesLongTextsWhole) {
  supervisor::RunStatus status = some_run();
  const std::string name(150, 'n');
  status.running[0].name = name;
  status.holding = supervisor::HoldingStatus{
      JobId{40}, name, "waits for memory: it may need 3.1 GiB, 2 GiB are free", {}};
  const auto lines = frame_lines(status, {.long_text = LongText::whole});
  EXPECT_EQ(lines[0], frame_lines(status, {})[0]);
  EXPECT_EQ(lines[2], "  next: " + name + " waits for memory: it may need 3.1 GiB, 2 GiB are free");
  EXPECT_THAT(lines[4], ::testing::EndsWith(name));
}

TEST(Frame, KeepsTheReasonWhereANameIsLong) {
  supervisor::RunStatus status = some_run();
  status.holding =
      supervisor::HoldingStatus{JobId{40},
                                "a-name-that-somebody-has-generated-0123456789-0123456789-x",
                                "waits for memory: it may need 3.1 GiB, 2 GiB are free",
                                {}};
  EXPECT_EQ(frame_lines(status, {})[2],
            "  next: a-name-t..456789-x waits for memory: it may need 3.1 GiB, 2 GiB are free");
}

TEST(Frame, ShowsWhatTellsCommandsApart) {
  supervisor::RunStatus status = some_run();
  status.running.resize(1);
  status.running[0] = job(38, "38", 4s, 512_MiB, 3);
  status.running[0].command = "/usr/lib/a/long/way/to/the/encoder --quiet -i clip38.mkv";
  status.running[0].distinct = "..clip38.mkv";
  EXPECT_THAT(frame_lines(status, {}).back(), testing::EndsWith("  38: ..clip38.mkv"));
  EXPECT_THAT(frame_lines(status, {.width = 120}).back(),
              testing::EndsWith("  38: " + status.running[0].command));
}

TEST(Frame, DoesNotCountWhatNeverBegan) {
  supervisor::RunStatus status = some_run();
  status.jobs = {.total = 40, .succeeded = 20, .failed = 2, .skipped = 16, .running = 2};
  EXPECT_THAT(frame_lines(status, {})[0], HasSubstr("22/40 done, 2 failed, 16 skipped, 2 running"));
}

TEST(Frame, ShowsTheHeaviestWhereNotAllFitAndCountsTheRest) {
  supervisor::RunStatus status = some_run();
  status.running.push_back(job(39, "small", 3s, 1_MiB, 0.5));
  status.running.push_back(job(40, "big", 2s, 4_GiB, 0.5));
  const auto lines = frame_lines(status, {.height = 6});
  EXPECT_THAT(lines, ElementsAre(HasSubstr("done"), HasSubstr("memory"), HasSubstr("state"),
                                 HasSubstr("link chrome"), HasSubstr("big"),
                                 "  and 3 more: 1.28 GiB, 3.5 cores"));
  EXPECT_EQ(frame_lines(status, {.height = 1}).size(), 1u);
  EXPECT_TRUE(frame_lines(status, {.height = 0}).empty());
}

TEST(Frame, LeavesOutJobsThatMayBeOverAtOnce) {
  supervisor::RunStatus status = some_run();
  EXPECT_EQ(frame_lines(status, {.shown_after = 5s}).size(), 5u);
  status.running.resize(1);
  EXPECT_EQ(frame_lines(status, {.shown_after = 10min}).size(), 2u);
}

TEST(Frame, NarrowTerminalsGetFewerFigures) {
  EXPECT_EQ(plain_text(frame_lines(some_run(), {.width = 40})),
            "  37/120 done, 2 failed, 2 running, 1 ..\n"
            "  memory 6.00 GiB of 8.00 GiB\n"
            "  state      time  job\n"
            "  running    1:02  link chrome\n"
            "  paused     1:01  codegen\n"
            "  running    0:04  38: run 38\n");
}

TEST(Frame, WithoutALineOrFiguresSaysNothingOfThem) {
  supervisor::RunStatus status = some_run();
  status.line = Bytes{};
  status.remaining.reset();
  status.running.resize(1);
  status.running[0].used.reset();
  status.running[0].cores.reset();
  status.running[0].estimate = Bytes{};
  status.running[0].attempt = 2;
  EXPECT_EQ(plain_text(frame_lines(status, {})),
            "  37/120 done, 2 failed, 2 running, 1 paused, 80 waiting                    1:23\n"
            "  memory 6.00 GiB   cores [###...........] 4.0 of 16\n"
            "  state      time    memory  estimate  cores  job\n"
            "  running    1:02                             link chrome (attempt 2)\n");
}

// Whatever jobs are called: no line is wider than the terminal, none holds a control character.
RC_GTEST_PROP(Frame, KeepsToTheTerminal, (const std::string& name, const std::string& reason)) {
  supervisor::RunStatus status = some_run();
  status.running[0].name = name;
  status.running[2].command = name;
  status.holding = supervisor::HoldingStatus{JobId{1}, name, reason, {{"used_bytes", 1e300}}};
  const auto width = *rc::gen::inRange<std::size_t>(0, 200);
  const auto height = *rc::gen::inRange<std::size_t>(0, 12);
  const auto lines = frame_lines(status, {.width = width, .height = height});
  RC_ASSERT(lines.size() <= height);
  for (const std::string& line : lines) {
    RC_ASSERT(report::columns_of(line) <= width);
    RC_ASSERT(report::printable(line) == line);
  }
}

TEST(StatusLine, IsOneLineForALog) {
  EXPECT_EQ(
      status_line(some_run()),
      "37/120 done, 2 failed, 2 running, 1 paused, 80 waiting; memory 6.00 GiB of 8.00 GiB, cores "
      "4.0 of 16; 1:23, about 4 min left");
}

TEST(StatusLine, SaysWhyNothingStarts) {
  supervisor::RunStatus status = some_run();
  status.holding = supervisor::HoldingStatus{JobId{40}, "webkit", "waits for 1 GiB", {}};
  EXPECT_THAT(status_line(status), testing::EndsWith("left; next: webkit waits for 1 GiB"));
}

TEST(ClockText, RunsLikeAClock) {
  EXPECT_EQ(clock_text(0s), "0:00");
  EXPECT_EQ(clock_text(59999ms), "0:59");
  EXPECT_EQ(clock_text(3599s), "59:59");
  EXPECT_EQ(clock_text(3600s), "1:00:00");
  EXPECT_EQ(clock_text(51h), "2d03h");
  EXPECT_EQ(clock_text(-5s), "0:00");
}

TEST(RoughText, GetsRounderTheLongerItIs) {
  EXPECT_EQ(rough_text(0s), "5 s");
  EXPECT_EQ(rough_text(42s), "40 s");
  EXPECT_EQ(rough_text(59s), "60 s");
  EXPECT_EQ(rough_text(94s), "90 s");
  EXPECT_EQ(rough_text(245s), "4 min");
  EXPECT_EQ(rough_text(80min), "1 h 20 min");
  EXPECT_EQ(rough_text(30h), "30 h");
}

}  // namespace
}  // namespace plimsoll::cli
