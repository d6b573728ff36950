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

// A group of ours in each hierarchy of the host.
inline std::unique_ptr<cgroup::Inner> make_ground(const cgroup::Hierarchies& host) {
  std::vector<cgroup::Group::Part> parts;
  for (const cgroup::Hierarchy& hierarchy : host.all) {
    const bool is_v2 = hierarchy.version == cgroup::Version::v2;
    if (!is_v2 && !hierarchy.controllers.has_any(kMeasured)) continue;
    auto base = plimsoll::testing::open_base(hierarchy, kMeasured);
    if (!base) return nullptr;
    auto ground = base->make_child(kGround);
    if (!ground) return nullptr;
    parts.push_back({std::move(*ground), hierarchy.controllers & kMeasured});
  }
  return std::make_unique<cgroup::Inner>(kGround, std::move(parts));
}

inline void remove_ground(const cgroup::Hierarchies& host) {
  for (const cgroup::Hierarchy& hierarchy : host.all) {
    auto base = plimsoll::testing::open_base(hierarchy, {});
    if (!base) continue;
    // What a test that crashed has left.
    if (const auto ground = base->open_child(kGround)) {
      if (const auto left = ground->children()) {
        for (const std::string& name : *left) (void)ground->remove_child(name);
      }
    }
    (void)base->remove_child(kGround);
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
    remove_ground(host_);
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
    const Instant end = now() + std::chrono::seconds(5);
    while (now() < end) {
      if (ground_->remove_child("job")) return;
    }
    ADD_FAILURE() << "the group could not be removed";
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
