#include "daemon/runner/file_lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <vector>

namespace plimsoll::daemon {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

constexpr Duration kGenerous = std::chrono::seconds(30);
constexpr Duration kShort = std::chrono::milliseconds(50);
constexpr Duration kLong = std::chrono::seconds(3);  // for work that takes no time

// Directories that hang until the test lets them go on.
struct FileLanesTest : testing::Test {
  // Work in this lane that is told under its name.
  void submit(
      FileLanes& lanes, const std::string& lane, const std::string& name,
      FileLanes::Work work = [](FileTurn&) { return Status(); },
      FileLanes::Step step = FileLanes::Step::further) {
    lanes.submit(
        lane, std::move(work),
        [this, name](const Status& status) {
          told.push_back(name + (status.ok() ? "" : ": " + status.text));
        },
        step);
  }
  // So many directories that hang, until they are known to.
  void hang(FileLanes& lanes, std::size_t count) {
    const FileLanes::Work work = hanging();
    for (std::size_t i = 0; i < count; ++i) {
      submit(lanes, "/hung/" + std::to_string(told.size() + i), "hung", work);
    }
    await(told.size() + count);
  }
  FileLanes::Work hanging() {
    return [until = hung.get_future().share()](FileTurn&) {
      until.wait();
      return Status();
    };
  }
  void await(std::size_t count) {
    const Instant deadline = loop::now() + kGenerous;
    while (told.size() < count && loop::now() < deadline) {
      ASSERT_TRUE(loop.run_once(std::chrono::seconds(1)));
    }
  }

  loop::Loop loop = std::move(*loop::Loop::create());
  std::promise<void> hung;
  std::vector<std::string> told;
};

TEST_F(FileLanesTest, OneThatHangsHoldsUpItsOwnAlone) {
  FileLanes lanes(loop, kGenerous);
  submit(lanes, "/hung", "first", hanging());
  submit(lanes, "/hung", "second");
  submit(lanes, "/other", "other");
  await(1);
  EXPECT_THAT(told, ElementsAre("other"));
  hung.set_value();
  await(3);
  EXPECT_THAT(told, ElementsAre("other", "first", "second"));
}

TEST_F(FileLanesTest, WhatHangsIsAnsweredWithItsPath) {
  FileLanes lanes(loop, kShort);
  submit(lanes, "/hung", "first", hanging());
  submit(lanes, "/hung", "second");
  await(2);
  const std::string why = ": The files at \"/hung\" have not answered for 50.0 ms";
  // The time of the first counts from when its thread began with it.
  EXPECT_THAT(told, UnorderedElementsAre("first" + why, "second" + why));
  // Nothing else is to be waited for there, until it has answered.
  submit(lanes, "/hung", "third");
  await(3);
  EXPECT_EQ(told.back(), "third" + why);
  hung.set_value();
  const Instant deadline = loop::now() + kGenerous;
  while (told.back() != "later" && loop::now() < deadline) {
    submit(lanes, "/hung", "later");
    await(told.size() + 1);
  }
  EXPECT_EQ(told.back(), "later");
}

TEST_F(FileLanesTest, ManyThatHangLeaveThreadsToOthers) {
  FileLanes lanes(loop, kLong);  // the others are answered within it
  hang(lanes, FileLanes::kThreadsMax);
  submit(lanes, "/other", "other", [](FileTurn&) { return Status(); }, FileLanes::Step::further);
  await(FileLanes::kThreadsMax + 1);
  EXPECT_EQ(told.back(), "other");
  // As many as are kept threads for: what begins is refused at once, what goes on is done.
  submit(lanes, "/late", "late", [](FileTurn&) { return Status(); }, FileLanes::Step::first);
  await(FileLanes::kThreadsMax + 2);
  EXPECT_EQ(told.back(),
            "late: No thread is free for files: 64 directories do not answer, among them "
            "\"/hung/0\"");
  submit(lanes, "/other", "other again");
  await(FileLanes::kThreadsMax + 3);
  EXPECT_EQ(told.back(), "other again");
  hung.set_value();
}

TEST_F(FileLanesTest, WhoHasFoundNoThreadDoesNotHang) {
  FileLanes lanes(loop, kShort);
  const FileLanes::Work work = hanging();
  constexpr std::size_t kMost = FileLanes::kThreadsMax + FileLanes::kHungMax;
  for (std::size_t i = 0; i < kMost; ++i) {
    submit(lanes, "/hung/" + std::to_string(i), "hung", work);
  }
  submit(lanes, "/other", "other");
  await(kMost + 1);
  for (const std::string& one : told)
    EXPECT_FALSE(one.find("\"/other\"") != std::string::npos) << one;
  hung.set_value();
}

TEST_F(FileLanesTest, WorkThatGetsOnIsNotGivenUp) {
  FileLanes lanes(loop, kLong);
  submit(lanes, "/large", "large", [this](FileTurn& turn) {
    auto until = hung.get_future();
    while (until.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) turn.step();
    return Status();
  });
  // More than the patience with it.
  const Instant end = loop::now() + 3 * kLong / 2;
  while (loop::now() < end) ASSERT_TRUE(loop.run_once(kShort));
  EXPECT_THAT(told, ElementsAre());
  hung.set_value();
  await(1);
  EXPECT_THAT(told, ElementsAre("large"));
}

TEST_F(FileLanesTest, WhatWasGivenUpIsToldToStop) {
  FileLanes lanes(loop, kShort);
  std::promise<bool> wanted;
  submit(lanes, "/hung", "first", [&, until = hung.get_future().share()](FileTurn& turn) {
    until.wait();
    wanted.set_value(turn.step());
    return Status();
  });
  await(1);
  hung.set_value();
  auto answer = wanted.get_future();
  ASSERT_EQ(answer.wait_for(kGenerous), std::future_status::ready);
  EXPECT_FALSE(answer.get());
}

TEST_F(FileLanesTest, EndsWithWorkInHand) {
  auto lanes = std::make_unique<FileLanes>(loop, kGenerous);
  submit(*lanes, "/a", "a", [](FileTurn& turn) {
    while (turn.step()) std::this_thread::yield();
    return Status();
  });
  lanes.reset();
  EXPECT_TRUE(loop.run_once({}));
  EXPECT_THAT(told, ElementsAre());
}

}  // namespace
}  // namespace plimsoll::daemon
