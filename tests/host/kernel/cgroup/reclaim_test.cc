#include "kernel/cgroup/limits.h"

#include <unistd.h>

#include "base/text.h"
#include "kernel/cgroup/destroy.h"
#include "support/host_test.h"

namespace plimsoll::testing {
namespace {

constexpr std::uint64_t kMib = 1 << 20;

class ReclaimHost : public HostTest {
 protected:
  static std::uint64_t used(const cgroup::Directory& memory) {
    const bool is_v1 = memory.version() == cgroup::Version::v1;
    const auto text = memory.read(is_v1 ? "memory.usage_in_bytes" : "memory.current");
    if (!text) return 0;
    return to_u64(text->substr(0, text->find('\n'))).value_or(0);
  }
};

// Page cache of a file on a disk, once it is written back; on a tmpfs nothing could be had back.
TEST_F(ReclaimHost, CleanPagesAreGivenBackWhileTheJobLives) {
  PREPARE_OR_SKIP(kHybrid);
  const cgroup::Leaf leaf = ground_->leaf("job");
  const std::string file = "/var/tmp/plimsoll-reclaim-" + std::to_string(::getpid());
  const Started started = start(leaf, {"write_file", file, "32", "sync"});
  ASSERT_TRUE(wait_ready(started));
  const cgroup::Directory& memory = *leaf.of(cgroup::Controller::memory);
  ASSERT_TRUE(eventually([&] { return used(memory) > 30 * kMib; })) << used(memory);
  // An error where less could be had: what is dirty can't be had yet.
  EXPECT_TRUE(eventually([&] {
    [[maybe_unused]] const auto less = cgroup::reclaim(memory, Bytes{32 * kMib});
    return used(memory) < 16 * kMib;
  })) << used(memory);
  const Instant end = clock_now() + kPatience;
  EXPECT_TRUE(cgroup::destroy(ground_->inner().parts(), "job", end, &clock_now).gone);
}

}  // namespace
}  // namespace plimsoll::testing
