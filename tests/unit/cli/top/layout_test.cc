#include "cli/top/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cli/top/run_figures.h"
#include "report/plain.h"
#include "unit/cli/top/top_scene.h"

namespace plimsoll::cli::top {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string frame_text(Model& model, ScreenStyle style) {
  style.now = kStart + 1s;
  const Frame frame = frame_of(model, style);
  model.set_room(frame.room, frame.scrollable);
  return text_of(frame_of(model, style));
}

TEST(TopLayout, AScreenOf80Columns) {
  auto grows = running_job(2, 208_MiB);
  grows.growth = 12.3 * (1 << 20);
  auto status =
      status_with({running_job(1, 269_MiB), grows, paused_job(3, policy::PauseCause::memory)});
  status.jobs = {.total = 16,
                 .succeeded = 5,
                 .failed = 0,
                 .skipped = 0,
                 .running = 2,
                 .paused = 1,
                 .waiting = 8};
  status.holding =
      supervisor::HoldingStatus{JobId{9}, "9", "waits for memory: it needs 396 MiB", {}};
  Model model{RowChoice{}};
  model.add_run(status.run);
  model.heard(0, status, kStart);
  EXPECT_EQ(frame_text(model, {.width = 80, .height = 14}),
            R"(plimsoll top  20261125-094358-0000abcd  2:31
  5/16 done, 2 running, 1 paused, 8 waiting
  memory [############..] 948 MiB of 1.00 GiB, estimate 1.27 GiB
  cores  [####..........] 0.6 of 2, wanted 3.5
  stalls cpu 50%  memory 2%  of the time
  next   9 waits for memory: it needs 396 MiB
  state        age   used estimate growth/s cores   io/s  job
  running     1:39   269M     538M        0   0.5         1: work 1
  running     1:38   208M     416M   +12.3M   0.5         2: work 2
  paused      1:37  10.0M    20.0M                        3: work 3  (memory)
  waiting                                                 9  waits for memory:..


q leave  ? help  Enter explain  p pause  r resume  k kill  / filter  s sort
)");
}

TEST(TopLayout, NarrowScreensKeepWhatMattersMost) {
  Model model{RowChoice{}};
  model.add_run("r");
  model.heard(0, status_with({running_job(1, 269_MiB)}), kStart);
  const std::string text = frame_text(model, {.width = 40, .height = 10});
  EXPECT_THAT(text, HasSubstr("state        age   used  job"));
  EXPECT_THAT(text, HasSubstr("running     1:39   269M  1: work 1"));
  EXPECT_THAT(text, HasSubstr("  memory 948 MiB of 1.00 GiB"));
}

TEST(TopLayout, NoJobs) {
  Model model{RowChoice{}};
  model.add_run("r");
  EXPECT_THAT(frame_text(model, {}),
              AllOf(HasSubstr("r  has not answered yet"), HasSubstr("Waiting for an answer."),
                    Not(HasSubstr("No job"))));
  model.heard(0, status_with({}), kStart);
  EXPECT_THAT(frame_text(model, {}), HasSubstr("No job is running."));
  model.press(typed("/"));
  model.press(typed("x"));
  EXPECT_THAT(frame_text(model, {}), HasSubstr("Show jobs with: x_"));
  EXPECT_THAT(frame_text(model, {}), HasSubstr("No job matches the filter; Esc removes it."));
}

TEST(TopLayout, SilenceAndTheEndAreTold) {
  Model model{RowChoice{}};
  model.add_run("r");
  model.heard(0, status_with({}), kStart);
  EXPECT_THAT(text_of(frame_of(model, {.now = kStart + 4s})), Not(HasSubstr("answered")));
  EXPECT_THAT(text_of(frame_of(model, {.now = kStart + 20s})),
              HasSubstr("has not answered for 20.0 s"));
  model.ended(0, "has ended");
  EXPECT_THAT(text_of(frame_of(model, {.now = kStart + 20s})), HasSubstr("r  2:31  has ended"));
}

TEST(TopLayout, SeveralRunsHaveALineEach) {
  Model model{RowChoice{}};
  model.add_run("20261125-094358-0000abcd");
  model.add_run("daemon");
  model.add_run("gone");
  model.heard(0, status_with({running_job(1, 1_MiB)}), kStart);
  auto without_line = status_with({});
  without_line.line = {};
  model.heard(1, without_line, kStart);
  model.ended(2, "has ended");
  const std::string text = frame_text(model, {.width = 120, .height = 24});
  EXPECT_THAT(
      text,
      HasSubstr("  run                       running  paused  waiting    used  estimate    line "
                "   cores  wanted        stalls\n"
                "  20261125-094358-0000abcd        1       0        0    948M     1.27G   1.00G "
                "   0.6/2     3.5      50% 2% -\n"
                "  daemon                          0       0        0    948M     1.27G         "
                "   0.6/2     3.5      50% 2% -\n"
                "  gone                      has ended\n"));
  EXPECT_THAT(text, HasSubstr("20261125-094358-0000abcd  1: work 1"));
  EXPECT_THAT(frame_text(model, {.width = 80}), Not(HasSubstr("stalls")));
}

TEST(TopLayout, ManyRunsLeaveRoomForJobs) {
  Model model{RowChoice{}};
  for (int i = 0; i < 20; ++i) model.add_run("r" + std::to_string(i));
  model.heard(0, status_with({running_job(1, 1_MiB)}), kStart);
  const std::string text = frame_text(model, {});
  EXPECT_THAT(text, HasSubstr("and 14 more runs"));
  EXPECT_THAT(text, HasSubstr("1: work 1"));
}

TEST(TopLayout, ThePageOfAJobTellsAllThatIsKnown) {
  Model model{RowChoice{}};
  model.add_run("r");
  model.heard(0, status_with({paused_job(1, policy::PauseCause::memory)}), kStart);
  model.press({.name = KeyName::enter});
  model.tell_story("  0:07  started\n");
  const std::string text = frame_text(model, {});
  for (const char* part :
       {"Job 1 of r\n", "state      paused: it grows by 48.6 MiB a second, and the line is near",
        "command    work 1", "attempt    1", "has run for 1m39s", "10.0 MiB, estimate 20.0 MiB",
        "0:07  started", "Esc back"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  model.heard(0, status_with({}), kStart + 1s);
  EXPECT_THAT(frame_text(model, {}), HasSubstr("It is over."));
}

TEST(TopLayout, HelpCanBeScrolledWhereItDoesNotFit) {
  Model model{RowChoice{}};
  model.add_run("r");
  model.press(typed("?"));
  EXPECT_THAT(frame_text(model, {}), Not(HasSubstr("stalls")));
  model.press({.name = KeyName::end});
  EXPECT_THAT(frame_text(model, {}), HasSubstr("stalls"));
}

TEST(TopLayout, TheQuestionNamesTheJobAndItsAnswers) {
  Model model{RowChoice{}};
  model.add_run("r");
  auto job = running_job(1, 1_MiB);
  job.command = std::string(150, 'x');
  model.heard(0, status_with({job}), kStart);
  model.press(typed("k"));
  const std::string text = frame_text(model, {});
  EXPECT_THAT(text, HasSubstr("Kill job 1: xxx"));
  EXPECT_THAT(text, HasSubstr("? y or n\n"));
}

TEST(TopLayout, NothingFromOutsideControlsTheTerminal) {
  const std::string evil =
      "\x1b[2J\x1b]0;x\x07\r\n\xff\u202e\xc2\x9b"
      "31m";
  auto job = paused_job(1, policy::PauseCause::user);
  job.name = evil;
  job.command = evil;
  job.distinct = evil;
  job.reason = evil;
  auto status = status_with({job});
  status.run = evil;
  status.holding = supervisor::HoldingStatus{JobId{2}, evil, evil, {{evil, 1}}};
  for (const Glyphs glyphs : {Glyphs::ascii, Glyphs::unicode}) {
    Model model{RowChoice{}};
    model.add_run(evil);
    model.heard(0, status, kStart);
    const auto check = [&] {
      for (const Line& line : frame_of(model, {.glyphs = glyphs}).lines) {
        EXPECT_EQ(text_of(line), report::printable(text_of(line)));
      }
    };
    check();
    model.press(typed("k"));
    check();
    model.press(typed("n"));
    model.press({.name = KeyName::enter});
    model.tell_story(evil);
    check();
    model.press({.name = KeyName::escape});
    model.say({Message::Kind::fault, evil});
    check();
    model.ended(0, evil);
    check();
    model.offer_choice();
    check();
  }
}

TEST(TopLayout, AsciiScreensGetAsciiAlone) {
  auto job = running_job(1, 1_MiB);
  job.command = "caf\u00e9 \u6f22\u5b57";
  Model model{RowChoice{}};
  model.add_run("r");
  model.heard(0, status_with({job}), kStart);
  EXPECT_THAT(frame_text(model, {.width = 120}), HasSubstr("1: caf? ??\n"));
  EXPECT_THAT(frame_text(model, {.width = 120, .glyphs = Glyphs::unicode}),
              HasSubstr("1: caf\u00e9 \u6f22\u5b57\n"));
}

RC_GTEST_PROP(TopLayout, FitsEveryScreen, ()) {
  const auto width = *rc::gen::inRange<std::size_t>(0, 200);
  const auto height = *rc::gen::inRange<std::size_t>(0, 60);
  const auto jobs = *rc::gen::inRange<unsigned>(0, 80);
  const auto runs = *rc::gen::inRange<unsigned>(1, 5);
  Model model{RowChoice{}};
  for (unsigned run = 0; run < runs; ++run) {
    model.add_run("run-" + std::to_string(run));
    std::vector<supervisor::RunningJob> running;
    for (unsigned i = 1; i <= jobs; ++i) {
      running.push_back(i % 3 == 0 ? paused_job(i, policy::PauseCause::cores)
                                   : running_job(i, Bytes{i * 1'000'000ULL}));
      running.back().command = *rc::gen::arbitrary<std::string>();
    }
    model.heard(run, status_with(running), kStart);
  }
  const auto keys = *rc::gen::container<std::vector<std::string>>(
      rc::gen::element<std::string>("?", "s", "S", "/", "k", "a", "q", "n", "p"));
  for (const std::string& key : keys) {
    model.press(typed(key));
    model.press({.name = *rc::gen::element(KeyName::down, KeyName::end, KeyName::enter,
                                           KeyName::page_up, KeyName::escape)});
    const ScreenStyle style{.width = width, .height = height, .now = kStart};
    const Frame frame = frame_of(model, style);
    model.set_room(frame.room, frame.scrollable);
    RC_ASSERT(frame.lines.size() <= height);
    for (const Line& line : frame.lines) RC_ASSERT(report::columns_of(text_of(line)) <= width);
  }
}

}  // namespace
}  // namespace plimsoll::cli::top
