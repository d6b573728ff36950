#include "daemon/runner/idle_cleaner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace plimsoll::daemon {
namespace {

using testing::ElementsAre;

const Status kBroken = {Code::internal, "broken"};

// A cleaner that cleans when the test says so.
struct Cleanings : IdleCleaner::Cleaner {
  void clean(IdleCleaner::Done done) override { cleanings.push_back(std::move(done)); }

  void acquire(const std::string& who) {
    cleaner.acquire([this, who](const Status& status) {
      told.push_back(who + (status.ok() ? " in" : " refused"));
    });
  }
  void release(const std::string& who) {
    cleaner.release([this, who](const Status& status) {
      told.push_back(who + (status.ok() ? " out" : " out, " + status.text));
    });
  }
  void cleaned(const Status& status = {}) {
    const auto done = std::move(cleanings.back());
    cleanings.pop_back();
    done(status);
  }
  std::vector<std::string> take() { return std::exchange(told, {}); }

  IdleCleaner cleaner{*this};
  std::vector<IdleCleaner::Done> cleanings;
  std::vector<std::string> told;
};

TEST(IdleCleaner, CleansOnceForAllThatCome) {
  Cleanings scene;
  scene.acquire("a");
  scene.acquire("b");
  EXPECT_EQ(scene.cleanings.size(), 1u);
  EXPECT_THAT(scene.take(), ElementsAre());
  scene.cleaned();
  EXPECT_THAT(scene.take(), ElementsAre("a in", "b in"));
  scene.acquire("c");
  EXPECT_THAT(scene.take(), ElementsAre("c in"));
  scene.release("a");
  scene.release("b");
  EXPECT_THAT(scene.take(), ElementsAre("a out", "b out"));
  EXPECT_EQ(scene.cleanings.size(), 0u);
  scene.release("c");
  EXPECT_EQ(scene.cleanings.size(), 1u);
  scene.acquire("d");  // while it is cleaned
  EXPECT_EQ(scene.cleanings.size(), 1u);
  scene.cleaned();
  EXPECT_THAT(scene.take(), ElementsAre("c out"));
  scene.cleaned();
  EXPECT_THAT(scene.take(), ElementsAre("d in"));
}

TEST(IdleCleaner, AFailureBeforeRefusesTheOneThatAsked) {
  Cleanings scene;
  scene.acquire("a");
  scene.acquire("b");
  scene.cleaned(kBroken);
  EXPECT_THAT(scene.take(), ElementsAre("a refused"));
  scene.cleaned();
  EXPECT_THAT(scene.take(), ElementsAre("b in"));
}

TEST(IdleCleaner, AFailureAfterIsToldToTheLastOut) {
  Cleanings scene;
  scene.acquire("a");
  scene.cleaned();
  scene.release("a");
  scene.cleaned(kBroken);
  EXPECT_THAT(scene.take(), ElementsAre("a in", "a out, broken"));
  scene.acquire("b");
  EXPECT_EQ(scene.cleanings.size(), 1u);
}

TEST(IdleCleaner, ACleaningMayBeOverAtOnce) {
  struct AtOnce : IdleCleaner::Cleaner {
    void clean(IdleCleaner::Done done) override { done({}); }
  } at_once;
  IdleCleaner cleaner(at_once);
  int in = 0;
  for (int i = 0; i < 3; ++i) cleaner.acquire([&in](const Status&) { ++in; });
  for (int i = 0; i < 3; ++i) cleaner.release([&in](const Status&) { --in; });
  cleaner.acquire([&in](const Status&) { ++in; });
  EXPECT_EQ(in, 1);
}

}  // namespace
}  // namespace plimsoll::daemon
