#include "store/history/state_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "entries.h"

namespace plimsoll::history {
namespace {

using ::testing::HasSubstr;

TEST(StateDir, FollowsItsEnvironment) {
  const struct {
    StateEnvironment environment;
    std::string expected;
  } cases[] = {
      {{.own = "/own", .xdg = "/xdg", .home = "/h"}, "/own"},
      {{.own = "here", .caller = Caller::root}, "here"},
      {{.xdg = "/xdg", .home = "/h"}, "/xdg/plimsoll"},
      {{.home = "/h"}, "/h/.local/state/plimsoll"},
      {{.xdg = "not/absolute", .home = "/h"}, "/h/.local/state/plimsoll"},
      {{.xdg = "/xdg", .home = "/h", .caller = Caller::root}, "/var/lib/plimsoll"},
      {{.caller = Caller::root}, "/var/lib/plimsoll"},
  };
  for (const auto& c : cases) EXPECT_EQ(*state_dir(c.environment), c.expected);
}

TEST(StateDir, NothingToGoBy) {
  const auto dir = state_dir({.xdg = "relative"});
  ASSERT_FALSE(dir);
  EXPECT_THAT(dir.error().message(), HasSubstr("PLIMSOLL_STATE_DIR"));
}

TEST(StateDir, PlacesInIt) {
  EXPECT_EQ(history_path("/s"), "/s/history.db");
  EXPECT_EQ(runs_dir("/s"), "/s/runs");
}

TEST(MakePrivateDir, KeepsWhatIsThere) {
  const testing::Place place;
  const std::string deep = (place.dir / "a" / "b").string();
  EXPECT_TRUE(make_private_dir(deep));
  EXPECT_TRUE(make_private_dir(deep));
  EXPECT_TRUE(make_private_dir(deep + "/"));
  testing::fs::permissions(deep, testing::fs::perms::group_write | testing::fs::perms::owner_all);
  const auto refused = make_private_dir(deep);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("chmod go-w"));
}

}  // namespace
}  // namespace plimsoll::history
