#include "policy/scheduler/kinds.h"

#include <gtest/gtest.h>

namespace plimsoll::policy {
namespace {

struct KindsScene {
  Kind take(std::size_t number) {
    const Key key{.exact = "class " + std::to_string(number), .tool = "tool"};
    const Kind kind = kinds.take(key, {}, estimator);
    kinds.refresh_now(kind, estimator, governor);
    return kind;
  }

  Estimator estimator;
  Governor governor{{.line = Bytes{1 << 30}}};
  Kinds kinds;
};

TEST(Kinds, AreTheSameWhileAJobIsOfThemAndLongAfter) {
  KindsScene scene;
  const Kind kind = scene.take(1);
  EXPECT_EQ(scene.take(1), kind);
  EXPECT_NE(scene.take(2), kind);
  scene.kinds.give_back(kind, scene.governor);
  scene.kinds.give_back(kind, scene.governor);
  EXPECT_EQ(scene.take(1), kind);
  EXPECT_EQ(scene.kinds.size(), 2u);
}

TEST(Kinds, OfTwoUsersAreNeverTheSame) {
  KindsScene scene;
  const Key own{.exact = "c", .tool = "t"};
  const Key others{.exact = "c", .tool = "t", .owner = 1000};
  EXPECT_NE(scene.kinds.take(own, {}, scene.estimator),
            scene.kinds.take(others, {}, scene.estimator));
}

TEST(Kinds, JobsOfTwoUsersAreNeverOfOne) {
  KindsScene scene;
  const Key key{.exact = "class", .tool = "tool"};
  const Kind mine = scene.kinds.take(key, {}, scene.estimator, Tenant{1001});
  EXPECT_NE(scene.kinds.take(key, {}, scene.estimator, Tenant{1002}), mine);
  EXPECT_EQ(scene.kinds.take(key, {}, scene.estimator, Tenant{1001}), mine);
}

// A daemon sees new ones for ever.
TEST(Kinds, NoMoreThanSoManyAreKnownThatNoJobIsOf) {
  KindsScene scene;
  const Kind held = scene.take(0);
  for (std::size_t i = 1; i <= 3 * kIdleKindsMax; ++i) {
    scene.kinds.give_back(scene.take(i), scene.governor);
    // Used again and again: it is not the one that is forgotten.
    scene.kinds.give_back(scene.take(1), scene.governor);
    // Now and then: it looks at every kind, and sanitized builds take minutes for each time.
    if (i % 64 == 0) scene.kinds.learnt(scene.kinds.at(held).key, scene.estimator);
  }
  EXPECT_EQ(scene.kinds.size(), kIdleKindsMax + 1);
  EXPECT_EQ(scene.take(0), held);
  while (scene.kinds.refresh(scene.estimator, scene.governor)) continue;
}

Key key_of_command(std::uint64_t command) {
  return {.exact = "sweep", .tool = "tool", .command = command};
}

TEST(Kinds, TenThousandCommandsAreAFewDozen) {
  constexpr std::uint64_t kCommands = 10'000;
  KindsScene scene;
  const Kind unknown = scene.kinds.take(key_of_command(1), {}, scene.estimator);
  for (std::uint64_t i = 1; i <= kCommands; ++i) {
    EXPECT_EQ(scene.kinds.take(key_of_command(i), {}, scene.estimator), unknown);
    scene.kinds.give_back(unknown, scene.governor);
  }
  for (std::uint64_t i = 1; i <= kCommands; ++i) {
    scene.estimator.learn({.key = key_of_command(i),
                           .peak = Bytes{(i % 1000 + 1) << 20U},
                           .ran = std::chrono::seconds(i % 100 + 1)});
  }
  std::uint64_t known = 0;
  for (std::uint64_t i = 1; i <= kCommands; ++i) {
    const Kind kind = scene.kinds.take(key_of_command(i), {}, scene.estimator);
    // Of a few the class is surer than the one attempt of their own: they are of its kind.
    const bool is_known = scene.estimator.knows_command(key_of_command(i));
    EXPECT_EQ(kind != unknown, is_known);
    known += is_known ? 1 : 0;
    const Kinds::Entry& entry = scene.kinds.at(kind);
    const double one = scene.estimator.estimate(key_of_command(i), {}).peak.mean;
    const double kinds = scene.estimator.estimate(entry.key, entry.facts).peak.mean;
    EXPECT_NEAR(one / kinds, 1, 0.2);
  }
  EXPECT_GT(known, kCommands * 9 / 10);
  EXPECT_LT(scene.kinds.size(), 400U);
}

TEST(Kinds, NumbersTellThemApartOnceTheyExplain) {
  KindsScene scene;
  const Key key{.exact = "sweep", .tool = "tool"};
  const auto take = [&](double number) {
    return scene.kinds.take(key, {.numbers = {number}}, scene.estimator);
  };
  EXPECT_EQ(take(1), take(1000));
  bool anew = false;
  for (int i = 1; i <= 6; ++i) {
    scene.estimator.learn({.key = key,
                           .peak = Bytes{static_cast<std::uint64_t>(i) << 30U},
                           .ran = std::chrono::seconds(1),
                           .numbers = {100.0 * i}});
    anew = scene.kinds.learnt(key, scene.estimator) || anew;
  }
  EXPECT_TRUE(anew);
  EXPECT_FALSE(scene.kinds.learnt(key, scene.estimator));  // once
  EXPECT_NE(take(100), take(600));
  EXPECT_EQ(take(600), take(605));
}

}  // namespace
}  // namespace plimsoll::policy
