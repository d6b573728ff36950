// Places of guests: a group and a family of processes of this test's own, seen and acted upon as
// those of a client.
#include "engine/guest_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "cgroup/destroy.h"
#include "cgroup/hierarchies.h"
#include "process/table.h"
#include "support/host_test.h"

namespace plimsoll::engine {
namespace {

using plimsoll::testing::eventually;
using plimsoll::testing::Started;
using ::testing::HasSubstr;
using namespace literals;

char state_of(int pid) {
  const auto proc = process::ProcDir::open();
  if (!proc) return '?';
  const auto stat = proc->read_stat(pid);
  return stat ? stat->state : '-';
}

struct GuestPlaceTest : plimsoll::testing::HostTest {
  void TearDown() override {
    using namespace plimsoll::testing;
    if (ground_) {
      (void)cgroup::destroy(ground_->inner().parts(), "job", clock_now() + kPatience, &clock_now);
    }
    HostTest::TearDown();
  }

  // The path of the leaf from the root of its hierarchies.
  [[nodiscard]] std::string path_of(const cgroup::Leaf& leaf) const {
    const std::string& label = leaf.parts().front().directory.label();
    for (const cgroup::Hierarchy& hierarchy : hierarchies.all) {
      if (label.starts_with(hierarchy.mount_point + "/")) {
        const std::string root = hierarchy.mount_root == "/" ? "" : hierarchy.mount_root;
        return root + label.substr(hierarchy.mount_point.size());
      }
    }
    return {};
  }

  cgroup::Hierarchies hierarchies = *cgroup::discover_hierarchies();
};

TEST_F(GuestPlaceTest, AGroupIsMeasuredStoppedAndKilled) {
  PREPARE_OR_SKIP(plimsoll::testing::kHybrid);
  const cgroup::Leaf leaf = ground_->leaf("job");
  const Started hog = plimsoll::testing::start(leaf, {"hog", "40"});
  auto habitat = open_group({path_of(leaf)}, {.uid = ::geteuid()}, hierarchies, "");
  ASSERT_TRUE(habitat) << habitat.error().message();
  EXPECT_TRUE(eventually([&] {
    const GuestSample seen = (*habitat)->look(plimsoll::testing::clock_now());
    return seen.used && *seen.used > 35_MiB && seen.cpu;
  }));
  (*habitat)->freeze();
  (*habitat)->thaw();
  EXPECT_TRUE(eventually([&] {
    (*habitat)->kill(plimsoll::testing::clock_now());
    return state_of(hog.pid) == '-' || state_of(hog.pid) == 'Z';
  }));
}

TEST_F(GuestPlaceTest, AFamilyIsMeasuredStoppedAndKilled) {
  PREPARE_OR_SKIP(plimsoll::testing::kHybrid);
  const cgroup::Leaf leaf = ground_->leaf("job");
  const Started hog = plimsoll::testing::start(leaf, {"hog", "40"});
  auto habitat = open_processes({hog.pid}, {.uid = ::geteuid()});
  ASSERT_TRUE(habitat) << habitat.error().message();
  EXPECT_TRUE(eventually([&] {
    const GuestSample seen = (*habitat)->look(plimsoll::testing::clock_now());
    return seen.used && *seen.used > 35_MiB;
  }));
  (*habitat)->freeze();
  EXPECT_TRUE(eventually([&] { return state_of(hog.pid) == 'T'; }));
  habitat->reset();  // what was stopped goes on
  EXPECT_TRUE(eventually([&] { return state_of(hog.pid) != 'T'; }));
  habitat = open_processes({hog.pid}, {.uid = ::geteuid()});
  ASSERT_TRUE(habitat);
  EXPECT_TRUE(eventually([&] {
    (*habitat)->kill(plimsoll::testing::clock_now());
    return state_of(hog.pid) == '-' || state_of(hog.pid) == 'Z';
  }));
}

TEST_F(GuestPlaceTest, OnlyTheOwnersPlacesAreOpened) {
  PREPARE_OR_SKIP(plimsoll::testing::kHybrid);
  const cgroup::Leaf leaf = ground_->leaf("job");
  const std::string path = path_of(leaf);
  const Peer stranger{.uid = 12'345};
  const Peer remote{.where = PeerPlace::remote};
  const auto group = open_group({path}, stranger, hierarchies, "");
  ASSERT_FALSE(group);
  EXPECT_EQ(group.error().code, std::errc::permission_denied);
  EXPECT_FALSE(open_group({path}, remote, hierarchies, ""));
  const auto processes = open_processes({::getpid()}, stranger);
  ASSERT_FALSE(processes);
  EXPECT_THAT(processes.error().message(), HasSubstr("not to the client's uid 12345"));
  EXPECT_FALSE(open_processes({::getpid()}, remote));
  const auto own = open_group({path}, {}, hierarchies, path.substr(0, path.rfind('/')));
  ASSERT_FALSE(own);
  EXPECT_THAT(own.error().message(), HasSubstr("is Plimsoll's own"));
}

TEST_F(GuestPlaceTest, PathsAreNothingElse) {
  for (const char* bad :
       {"", "/", "job", "/a/../b", "/..", "/a//b", "/./a", "/nonexistent-group"}) {
    const auto opened = open_group({bad}, {}, hierarchies, "");
    ASSERT_FALSE(opened) << bad;
    EXPECT_EQ(opened.error().code, std::errc::invalid_argument) << bad;
  }
  for (const int bad : {-1, 0, 1, 1 << 30}) EXPECT_FALSE(open_processes({bad}, {})) << bad;
}

}  // namespace
}  // namespace plimsoll::engine
