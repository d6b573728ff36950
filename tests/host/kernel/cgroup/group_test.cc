#include "kernel/cgroup/group.h"

#include "kernel/cgroup/destroy.h"
#include "kernel/cgroup/processes.h"
#include "support/host_test.h"

namespace plimsoll::testing {
namespace {

class MoveHost : public HostTest {};

// Whoever reaps a group once cgroup.events calls it empty kills what it finds in the other parts.
TEST_F(MoveHost, WhoIsOnTheWayStillLivesInTheGroupThatIsLeft) {
  PREPARE_OR_SKIP(kHybrid);
  const cgroup::Leaf from = ground_->leaf("from");
  const cgroup::Leaf to = ground_->leaf("to");
  const Started started = start(from, {"hog", "1"});
  ASSERT_TRUE(wait_ready(started));
  for (const auto& part : ground_->inner().parts()) {
    if (part.directory.version() == cgroup::Version::v1) {
      ASSERT_TRUE(part.directory.remove_child("to"));
    }
  }
  EXPECT_FALSE(cgroup::move_process(to, started.pid));
  const auto lives = cgroup::populated(from, cgroup::Scope::v2_first);
  ASSERT_TRUE(lives);
  EXPECT_TRUE(*lives);

  const auto& parents = ground_->inner().parts();
  for (const char* name : {"from", "to"}) {
    EXPECT_TRUE(cgroup::destroy(parents, name, clock_now() + kPatience, &clock_now).gone);
  }
}

}  // namespace
}  // namespace plimsoll::testing
