#include "guardian/spawner.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "cgroup/destroy.h"
#include "cgroup/entrance.h"
#include "support/host_test.h"

// Children born into real groups, and the ways in which that fails.
namespace plimsoll::testing {
namespace {

using guardian::Newborn;
using guardian::SpawnRequest;
using guardian::SpawnStep;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

// Everything until the end of file, or what came within kPatience.
std::string read_all(int fd) {
  std::string text;
  const Instant end = clock_now() + kPatience;
  while (clock_now() < end) {
    pollfd readable{.fd = fd, .events = POLLIN, .revents = 0};
    if (::poll(&readable, 1, 100) <= 0) continue;
    char block[4096];
    const ssize_t got = ::read(fd, block, sizeof block);
    if (got <= 0) break;
    text.append(block, static_cast<std::size_t>(got));
  }
  return text;
}

std::vector<std::string> lines(std::string_view text) {
  std::vector<std::string> found;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    found.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

sigset_t no_signals() {
  sigset_t none;
  sigemptyset(&none);
  return none;
}

constexpr const char* kBorn = "B";

class SpawnerHost : public HostTest {
 protected:
  void TearDown() override {
    if (ground_) {
      EXPECT_TRUE(
          cgroup::destroy(ground_->inner().parts(), "job", clock_now() + kPatience, &clock_now)
              .gone);
    }
    HostTest::TearDown();
  }

  // A request to be born in the group, whose stdout comes to `output_`.
  SpawnRequest request_in(const cgroup::Leaf& leaf, std::vector<std::string> argv) {
    SpawnRequest request;
    request.argv = std::move(argv);
    request.env = {"PATH=/usr/bin:/bin"};
    for (const auto& part : leaf.parts()) {
      if (part.directory.version() == cgroup::Version::v2) {
        request.v2_group = part.directory.fd();
      } else {
        entrances_.push_back(*cgroup::open_v1_entrance(part.directory));
        request.v1_entrances.push_back(entrances_.back().get());
      }
    }
    return request;
  }

  // What the child reported before its exec.
  std::string spawn(guardian::Spawner& spawner, SpawnRequest request) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const UniqueFd from(ends[0]);
    std::optional<UniqueFd> to(ends[1]);
    request.stdio[1] = to->get();
    auto encoded = encode(request);
    std::vector<UniqueFd> fds;
    for (const int fd : encoded.fds) fds.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
    std::string report;
    {
      const auto received = guardian::decode(encoded.bytes, std::move(fds));
      if (!received) return "not decoded";
      to.reset();
      auto child = spawner.spawn(*received);
      if (!child) return child.error().message();
      report = read_all(child->report.get());
      last_ = std::move(*child);
    }
    output_ = read_all(from.get());
    return report;
  }

  // As the guardian does it: once more after a death at birth.
  std::string spawn_or_again(guardian::Spawner& spawner, const SpawnRequest& request) {
    std::string report = spawn(spawner, request);
    if (report.empty() && spawner.may_try_again(last_)) report = spawn(spawner, request);
    return report;
  }

  void expect_failure(SpawnRequest request, SpawnStep step, int code) {
    guardian::Spawner spawner(no_signals());
    const std::string report = spawn_or_again(spawner, request);
    guardian::SpawnFailure failure;
    ASSERT_EQ(report.size(), 1 + sizeof failure) << report;
    std::memcpy(&failure, report.data() + 1, sizeof failure);
    EXPECT_EQ(failure.step, step) << name_of(failure.step);
    EXPECT_EQ(failure.code, code) << std::strerror(failure.code);
  }

  std::vector<UniqueFd> entrances_;
  Newborn last_;
  std::string output_;

  void release() {
    entrances_.clear();
    last_ = {};
  }
};

TEST_F(SpawnerHost, AChildIsInAllItsGroups) {
  for (const Way& way : {kHybrid, kV1}) {
    SCOPED_TRACE(way.name);
    PREPARE_OR_SKIP(way);
    {
      const cgroup::Leaf leaf = ground_->leaf("job");
      guardian::Spawner spawner(no_signals());
      ASSERT_EQ(spawn_or_again(spawner, request_in(leaf, {"cat", "/proc/self/cgroup"})), kBorn);
      std::size_t in_group = 0;
      for (const std::string& line : lines(output_)) in_group += line.ends_with("/job") ? 1U : 0U;
      EXPECT_EQ(in_group, leaf.parts().size()) << output_;
      release();
    }
    TearDown();
  }
}

// That would make each start wait for a grace period, and each fork and exec of others slower.
TEST_F(SpawnerHost, NoV1GroupIsEnteredThroughTheLockOfThreadGroups) {
  PREPARE_OR_SKIP(kV1);
  {
    const cgroup::Leaf leaf = ground_->leaf("job");
    const SpawnRequest request = request_in(leaf, {"true"});
    ASSERT_FALSE(request.v1_entrances.empty());
    for (const int fd : request.v1_entrances) {
      const std::string link = "/proc/self/fd/" + std::to_string(fd);
      EXPECT_EQ(std::filesystem::read_symlink(link).filename(), "tasks");
    }
    release();
  }
}

// Some kernels kill a child that is cloned into such a group, at birth.
TEST_F(SpawnerHost, AChildLivesInAGroupBelowOneThatWasKilled) {
  PREPARE_OR_SKIP(kHybrid);
  {
    const cgroup::Leaf leaf = ground_->leaf("job");
    const cgroup::Directory* above = ground_->inner().v2();
    if (!above->has_file("cgroup.kill")) GTEST_SKIP() << "this kernel has no cgroup.kill";
    ASSERT_TRUE(above->write("cgroup.kill", "1"));
    guardian::Spawner spawner(no_signals());
    const auto request = request_in(leaf, {"cat", "/proc/self/cgroup"});
    const std::string first = spawn(spawner, request);
    RecordProperty("killed_at_birth", first.empty() ? "yes" : "no");
    if (first.empty()) {
      // Two that were under way at once may both try again; what was not cloned into its group
      // may not.
      EXPECT_TRUE(spawner.may_try_again(last_));
      EXPECT_TRUE(spawner.may_try_again(last_));
      ASSERT_EQ(spawn(spawner, request), kBorn);
      EXPECT_FALSE(spawner.may_try_again(last_));
    }
    EXPECT_THAT(lines(output_), Contains(EndsWith("/job")));
    // And from then on at the first try.
    EXPECT_EQ(spawn(spawner, request), kBorn);
    EXPECT_THAT(lines(output_), Contains(EndsWith("/job")));
    release();
  }
}

TEST_F(SpawnerHost, EachStepThatFailsIsNamedWithItsReason) {
  PREPARE_OR_SKIP(kV1Bare);
  {
    const cgroup::Leaf leaf = ground_->leaf("job");
    const auto with = [&](const std::function<void(SpawnRequest&)>& change) {
      SpawnRequest request = request_in(leaf, {"true"});
      change(request);
      return request;
    };
    expect_failure(request_in(leaf, {"no-such-command"}), SpawnStep::exec, ENOENT);
    expect_failure(request_in(leaf, {""}), SpawnStep::exec, ENOENT);
    expect_failure(request_in(leaf, {"/etc/passwd"}), SpawnStep::exec, EACCES);
    expect_failure(request_in(leaf, {"/etc"}), SpawnStep::exec, EACCES);
    expect_failure(request_in(leaf, {"/etc/passwd/x"}), SpawnStep::exec, ENOTDIR);
    expect_failure(with([](SpawnRequest& r) { r.argv.emplace_back(200'000, 'x'); }),
                   SpawnStep::exec, E2BIG);
    expect_failure(with([](SpawnRequest& r) { r.cwd = "/no/such"; }), SpawnStep::working_directory,
                   ENOENT);
    expect_failure(with([](SpawnRequest& r) { r.rlimits = {{RLIMIT_NOFILE, {2, 1}}}; }),
                   SpawnStep::rlimit, EINVAL);
    expect_failure(with([](SpawnRequest& r) {
                     r.identity = guardian::Identity{1, 1, std::vector<gid_t>(70'000, 1)};
                   }),
                   SpawnStep::identity, EINVAL);
    const UniqueFd read_only(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    expect_failure(with([&](SpawnRequest& r) { r.v1_entrances.push_back(read_only.get()); }),
                   SpawnStep::enter_group, EBADF);
    release();
  }
}

TEST_F(SpawnerHost, AGroupThatIsGoneFailsTheBirth) {
  PREPARE_OR_SKIP(kV1Bare);
  {
    const cgroup::Leaf leaf = ground_->leaf("job");
    SpawnRequest request = request_in(leaf, {"true"});
    ASSERT_TRUE(ground_->inner().remove_child("job"));
    expect_failure(request, SpawnStep::enter_group, ENODEV);
    release();
  }
}

TEST_F(SpawnerHost, WhatTheChildIsGiven) {
  PREPARE_OR_SKIP(kV1Bare);
  {
    const cgroup::Leaf leaf = ground_->leaf("job");
    guardian::Spawner spawner(no_signals());
    const UniqueFd inherited(::fcntl(0, F_DUPFD, 100));
    const std::string script = "umask; pwd; [ -e /proc/self/fd/" + std::to_string(inherited.get()) +
                               " ] && echo inherited; ulimit -n; "
                               "read -r _ _ _ _ _ session _ </proc/self/stat; "
                               "[ $session = $$ ] && echo own; exit 0";
    SpawnRequest request = request_in(leaf, {"sh", "-c", script});
    request.umask = 027;
    request.cwd = "/usr";
    request.rlimits = {{RLIMIT_NOFILE, {77, 77}}};
    ASSERT_EQ(spawn(spawner, request), kBorn);
    EXPECT_THAT(lines(output_), ElementsAre("0027", "/usr", "inherited", "77"));
    request.session = guardian::Session::own;
    request.descriptors = guardian::Descriptors::close;
    ASSERT_EQ(spawn(spawner, request), kBorn);
    EXPECT_THAT(lines(output_), ElementsAre("0027", "/usr", "77", "own"));
    release();
  }
}

}  // namespace
}  // namespace plimsoll::testing
