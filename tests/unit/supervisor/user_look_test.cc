#include "supervisor/user_look.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

namespace plimsoll::supervisor {
namespace {

constexpr uid_t kNobodyHas = 4'123'456'789;
constexpr Duration kGenerous = std::chrono::seconds(30);

struct UserLookTest : testing::Test {
  void ask(UserLook& look, uid_t user) {
    look.ask(user, [this, user](bool lives) { told[user] = lives; });
  }
  void await(std::size_t count) {
    const Instant deadline = loop::now() + kGenerous;
    while (told.size() < count && loop::now() < deadline) {
      ASSERT_TRUE(loop.run_once(std::chrono::seconds(1)));
    }
  }

  loop::Loop loop = std::move(*loop::Loop::create());
  std::map<uid_t, bool> told;
};

TEST_F(UserLookTest, TellsWhoHasProcesses) {
  UserLook look(loop);
  ask(look, ::geteuid());
  ask(look, kNobodyHas);
  EXPECT_TRUE(told.empty()) << "never out of the call";
  await(2);
  EXPECT_EQ(told, (std::map<uid_t, bool>{{::geteuid(), true}, {kNobodyHas, false}}));
}

TEST_F(UserLookTest, WhoAsksLaterIsAnsweredByALaterLook) {
  UserLook look(loop);
  ask(look, ::geteuid());
  look.ask(::geteuid(), [this, &look](bool /*lives*/) { ask(look, kNobodyHas); });
  await(2);
  EXPECT_FALSE(told.at(kNobodyHas));
}

TEST_F(UserLookTest, NobodyIsToldByOneThatIsGone) {
  auto look = std::make_unique<UserLook>(loop);
  ask(*look, ::geteuid());
  ASSERT_TRUE(loop.run_once(std::chrono::seconds(1)));  // the look begins
  look.reset();
  ASSERT_TRUE(loop.run_once(Duration{}));
  EXPECT_LE(told.size(), 1u);
}

}  // namespace
}  // namespace plimsoll::supervisor
