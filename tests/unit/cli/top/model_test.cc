#include "cli/top/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/cli/top/top_scene.h"

namespace plimsoll::cli::top {
namespace {

using ::testing::HasSubstr;

const Key kUp{.name = KeyName::up}, kDown{.name = KeyName::down}, kEnd{.name = KeyName::end};
const Key kEnter{.name = KeyName::enter}, kEscape{.name = KeyName::escape},
    kBackspace{.name = KeyName::backspace};

struct OneRun {
  OneRun() {
    model.add_run("r");
    model.heard(
        0, status_with({running_job(1, 10_MiB), running_job(2, 30_MiB), running_job(3, 20_MiB)}),
        kStart);
  }
  [[nodiscard]] unsigned selected() const {
    return static_cast<unsigned>(model.rows()[model.selected()].job->job);
  }
  Model model{RowChoice{}};
};

TEST(TopModel, KeepsTheSelectionWithItsJob) {
  OneRun top;
  top.model.press(kDown);
  EXPECT_EQ(top.selected(), 2U);
  top.model.press(typed("s"));  // by memory: 2 is the first row now
  EXPECT_EQ(top.model.selected(), 0U);
  EXPECT_EQ(top.selected(), 2U);
  top.model.heard(0, status_with({running_job(1, 10_MiB), running_job(2, 1_MiB)}), kStart + 1s);
  EXPECT_EQ(top.selected(), 2U);
  top.model.heard(0, status_with({running_job(1, 10_MiB)}), kStart + 2s);
  EXPECT_EQ(top.selected(), 1U);
  top.model.heard(0, status_with({}), kStart + 3s);
  EXPECT_EQ(top.model.selected(), 0U);
  for (const char* key : {"p", "r", "k", "y"}) EXPECT_FALSE(top.model.press(typed(key))) << key;
  EXPECT_FALSE(top.model.press(kEnter));
  EXPECT_EQ(top.model.page(), Page::jobs);
}

TEST(TopModel, SelectionStopsAtBothEndsAndIsKeptInView) {
  OneRun top;
  top.model.press(kUp);
  EXPECT_EQ(top.selected(), 1U);
  top.model.press(kEnd);
  EXPECT_EQ(top.selected(), 3U);
  top.model.press(kDown);
  EXPECT_EQ(top.selected(), 3U);
  top.model.set_room(2, 3);
  EXPECT_EQ(top.model.first(), 1U);
  top.model.press({.name = KeyName::home});
  top.model.set_room(2, 3);
  EXPECT_EQ(top.model.first(), 0U);
}

TEST(TopModel, PausesAndResumesTheSelectedJob) {
  OneRun top;
  top.model.press(kDown);
  const auto paused = top.model.press(typed("p"));
  const auto& act = std::get<Act>(*paused);
  EXPECT_EQ(act.run, 0U);
  EXPECT_EQ(act.request, supervisor::ControlRequest(supervisor::PauseJob{"2"}));
  EXPECT_EQ(act.done, "Job 2 is paused.");
  const auto resumed = top.model.press(typed("r"));
  EXPECT_EQ(std::get<Act>(*resumed).request,
            supervisor::ControlRequest(supervisor::ResumeJob{"2"}));
}

TEST(TopModel, NamesJobsOfTheDaemonByNumber) {
  auto job = running_job(7, 1_MiB);
  job.name = "nightly";
  Model model{RowChoice{}};
  model.add_run("r");
  model.heard(0, status_with({job}), kStart);
  EXPECT_EQ(std::get<Act>(*model.press(typed("p"))).request,
            supervisor::ControlRequest(supervisor::PauseJob{"nightly"}));
  Model daemon{RowChoice{}};
  daemon.add_run("daemon");
  daemon.heard(0, status_with({job}), kStart);
  EXPECT_EQ(std::get<Act>(*daemon.press(typed("p"))).request,
            supervisor::ControlRequest(supervisor::PauseJob{"7"}));
}

TEST(TopModel, KillsOnlyWhatItHasAskedAboutAndAfterYes) {
  OneRun top;
  EXPECT_FALSE(top.model.press(typed("k")));
  EXPECT_EQ(top.model.prompt(), Prompt::kill);
  EXPECT_FALSE(top.model.press(kEnter));
  EXPECT_EQ(top.model.prompt(), Prompt::none);
  EXPECT_FALSE(top.model.press(typed("y")));

  top.model.press(typed("k"));
  // While the question stands, the job that it is about moves.
  top.model.heard(0, status_with({running_job(2, 30_MiB), running_job(1, 10_MiB)}), kStart + 1s);
  const auto killed = top.model.press(typed("y"));
  EXPECT_EQ(std::get<Act>(*killed).request, supervisor::ControlRequest(supervisor::KillJob{"1"}));

  top.model.press(typed("k"));
  top.model.heard(0, status_with({running_job(2, 30_MiB)}), kStart + 2s);
  EXPECT_FALSE(top.model.press(typed("y")));  // it is over; the one that is selected now lives
  EXPECT_EQ(top.model.message()->text, "Job 1 is over already.");
}

TEST(TopModel, FiltersAsIsTyped) {
  OneRun top;
  top.model.press(typed("/"));
  for (const char* key : {"k", " ", "3", "q"}) EXPECT_FALSE(top.model.press(typed(key)));
  EXPECT_TRUE(top.model.rows().empty());
  top.model.press(kBackspace);
  EXPECT_EQ(top.selected(), 3U);
  top.model.press(typed("\u00e9"));
  top.model.press(kBackspace);  // the whole character
  EXPECT_EQ(top.model.choice().filter, "k 3");
  top.model.press(kEnter);
  EXPECT_EQ(top.model.prompt(), Prompt::none);
  top.model.press(typed("/"));
  top.model.press(typed("x"));
  top.model.press(kEscape);  // as before
  EXPECT_EQ(top.model.choice().filter, "k 3");
  top.model.press(kEscape);
  EXPECT_EQ(top.model.rows().size(), 3U);
  top.model.press(typed("/"));
  for (int i = 0; i < 300; ++i) top.model.press(typed("x"));
  EXPECT_EQ(top.model.choice().filter.size(), kFilterBytesMax);
}

TEST(TopModel, TellsTheStoryOfAJob) {
  OneRun top;
  const auto asked = top.model.press(kEnter);
  EXPECT_EQ(std::get<TellStory>(*asked).job, "1");
  EXPECT_EQ(top.model.page(), Page::job);
  top.model.tell_story("a\nb\n");
  ASSERT_NE(top.model.asked(), nullptr);
  top.model.heard(0, status_with({running_job(2, 30_MiB)}), kStart + 1s);
  EXPECT_EQ(top.model.asked(), nullptr);
  EXPECT_EQ(top.model.asked_name(), "1");
  EXPECT_FALSE(top.model.press(typed("q")));  // leaves the page
  EXPECT_EQ(top.model.page(), Page::jobs);
  EXPECT_TRUE(std::holds_alternative<Quit>(*top.model.press(typed("q"))));
}

TEST(TopModel, LetsOneRunOrAllBeChosen) {
  Model model{RowChoice{}};
  model.add_run("a");
  model.add_run("b");
  model.offer_choice();
  model.heard(0, status_with({running_job(1, 1_MiB)}), kStart);
  model.heard(1, status_with({running_job(1, 1_MiB), running_job(2, 1_MiB)}), kStart);
  model.press(kDown);
  model.press(kEnter);
  EXPECT_EQ(model.page(), Page::jobs);
  EXPECT_EQ(model.choice().run, 1U);
  EXPECT_EQ(model.rows().size(), 2U);
  model.press(typed("a"));
  EXPECT_EQ(model.page(), Page::runs);
  model.press(kEnd);
  model.press(kEnter);
  EXPECT_FALSE(model.choice().run);
  EXPECT_EQ(model.rows().size(), 3U);
}

TEST(TopModel, ARunThatHasEndedStaysReadableAndTakesNoOrders) {
  OneRun top;
  top.model.ended(0, "has ended");
  EXPECT_TRUE(top.model.is_over());
  EXPECT_EQ(top.model.rows().size(), 3U);
  EXPECT_FALSE(top.model.press(typed("p")));
  EXPECT_EQ(top.model.message()->text, "The run has ended.");
  top.model.press(kDown);
  EXPECT_FALSE(top.model.message());
}

}  // namespace
}  // namespace plimsoll::cli::top
