#include "engine/kinds.h"

#include <gtest/gtest.h>

namespace plimsoll::engine {
namespace {

struct KindsScene {
  policy::Kind take(std::size_t number) {
    const policy::Key key{.exact = "class " + std::to_string(number), .tool = "tool"};
    const policy::Kind kind = kinds.take(key, {});
    kinds.refresh_now(kind, estimator, governor);
    return kind;
  }

  policy::Estimator estimator;
  policy::Governor governor{{.line = Bytes{1 << 30}}};
  Kinds kinds;
};

TEST(Kinds, AreTheSameWhileAJobIsOfThemAndLongAfter) {
  KindsScene scene;
  const policy::Kind kind = scene.take(1);
  EXPECT_EQ(scene.take(1), kind);
  EXPECT_NE(scene.take(2), kind);
  scene.kinds.give_back(kind, scene.governor);
  scene.kinds.give_back(kind, scene.governor);
  EXPECT_EQ(scene.take(1), kind);
  EXPECT_EQ(scene.kinds.size(), 2u);
}

// A daemon sees new ones for ever.
TEST(Kinds, NoMoreThanSoManyAreKnownThatNoJobIsOf) {
  KindsScene scene;
  const policy::Kind held = scene.take(0);
  for (std::size_t i = 1; i <= 3 * kIdleKindsMax; ++i) {
    scene.kinds.give_back(scene.take(i), scene.governor);
    // Used again and again: it is not the one that is forgotten.
    scene.kinds.give_back(scene.take(1), scene.governor);
    // Now and then: it looks at every kind, and sanitized builds take minutes for each time.
    if (i % 64 == 0) scene.kinds.learnt(scene.kinds.at(held).key);
  }
  EXPECT_EQ(scene.kinds.size(), kIdleKindsMax + 1);
  EXPECT_EQ(scene.take(0), held);
  while (scene.kinds.refresh(scene.estimator, scene.governor)) continue;
}

}  // namespace
}  // namespace plimsoll::engine
