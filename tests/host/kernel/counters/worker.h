#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>

#include "kernel/cgroup/group.h"
#include "kernel/cgroup/hierarchies.h"
#include "kernel/counters/network.h"
#include "support/ground.h"

// A group on each hierarchy of this host and a process that works in it, for tests that compare
// what is measured with what was done.
namespace plimsoll::counters {

inline Instant now() { return std::chrono::steady_clock::now(); }
inline WallTime wall() { return std::chrono::system_clock::now(); }

inline constexpr cgroup::ControllerSet kMeasured(cgroup::Controller::cpu,
                                                 cgroup::Controller::cpuacct,
                                                 cgroup::Controller::io, cgroup::Controller::memory,
                                                 cgroup::Controller::pids);
inline constexpr const char* kGround = "plimsoll-test-measure";

// With the pid, so that programs that run at once do not meet.
inline std::string ground_name() { return std::string(kGround) + "-" + std::to_string(::getpid()); }

// A group of ours in each hierarchy of the host.
inline std::unique_ptr<cgroup::Inner> make_ground(const cgroup::Hierarchies& host) {
  std::vector<cgroup::Group::Part> parts;
  for (const cgroup::Hierarchy& hierarchy : host.all) {
    const bool is_v2 = hierarchy.version == cgroup::Version::v2;
    if (!is_v2 && !hierarchy.controllers.has_any(kMeasured)) continue;
    auto base = plimsoll::testing::open_base(hierarchy, kMeasured);
    if (!base) return nullptr;
    plimsoll::testing::remove_stale(*base, hierarchy.controllers, kGround);
    auto ground = base->make_child(ground_name());
    if (!ground) return nullptr;
    parts.push_back({std::move(*ground), hierarchy.controllers & kMeasured});
  }
  return std::make_unique<cgroup::Inner>(ground_name(), std::move(parts));
}

inline void remove_ground(const cgroup::Hierarchies& host) {
  for (const cgroup::Hierarchy& hierarchy : host.all) {
    auto base = plimsoll::testing::open_base(hierarchy, {});
    if (!base) continue;
    (void)base->remove_child(ground_name());
  }
}

// A process in a group, which works, says so and waits to be let go.
class Worker {
 public:
  Worker(const cgroup::Leaf& leaf, const std::function<void()>& work) {
    int said[2], go[2];
    EXPECT_EQ(::pipe2(said, O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(go, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(go[1]);
      if (!cgroup::move_process(leaf, 0)) ::_exit(1);
      work();
      char byte = 0;
      if (::write(said[1], &byte, 1) != 1 || ::read(go[0], &byte, 1) != 0) ::_exit(2);
      ::_exit(0);
    }
    ::close(said[1]);
    ::close(go[0]);
    go_ = UniqueFd(go[1]);
    char byte = 0;
    EXPECT_EQ(::read(said[0], &byte, 1), 1) << "the worker failed";
    ::close(said[0]);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() { end(); }

  void end() {
    if (pid_ <= 0) return;
    go_ = {};
    int status = 0;
    ::waitpid(pid_, &status, 0);
    EXPECT_EQ(status, 0);
    pid_ = 0;
  }

 private:
  int pid_ = 0;
  UniqueFd go_;
};

class MeasureTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto found = cgroup::discover_hierarchies();
    ASSERT_TRUE(found);
    host_ = std::move(*found);
    ground_ = make_ground(host_);
    if (ground_ == nullptr) GTEST_SKIP() << "no right to make cgroups on this host";
    auto leaf = ground_->make_leaf("job", kMeasured);
    ASSERT_TRUE(leaf) << leaf.error().message();
    leaf_ = std::make_unique<cgroup::Leaf>(std::move(*leaf));
  }
  void TearDown() override {
    if (ground_ != nullptr) remove_leaf();
    remove_ground(host_);
  }

  // A process that was collected can be listed for a moment still.
  void remove_leaf() const {
    EXPECT_TRUE(plimsoll::testing::eventually([this] {
      return ground_->remove_child("job").has_value();
    })) << "the group could not be removed";
  }

  // Controllers that the host has; the others must be said to be missing.
  [[nodiscard]] bool has(cgroup::Controller controller) const {
    return leaf_->of(controller) != nullptr;
  }

  cgroup::Hierarchies host_;
  std::unique_ptr<cgroup::Inner> ground_;
  std::unique_ptr<cgroup::Leaf> leaf_;
  Network no_network_{"not asked for"};
};

}  // namespace plimsoll::counters
