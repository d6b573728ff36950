#include "guardian/spawner.h"

#include <linux/keyctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <filesystem>

#include "spawner_host.h"

// Children born into real groups, and the ways in which that fails.
namespace plimsoll::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

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
      EXPECT_TRUE(spawner.may_try_again(last_.birth));
      EXPECT_TRUE(spawner.may_try_again(last_.birth));
      ASSERT_EQ(spawn(spawner, request), kBorn);
      EXPECT_FALSE(spawner.may_try_again(last_.birth));
    }
    EXPECT_THAT(lines(output_), Contains(EndsWith("/job")));
    // And from then on at the first try.
    EXPECT_EQ(spawn(spawner, request), kBorn);
    EXPECT_THAT(lines(output_), Contains(EndsWith("/job")));
    release();
  }
}

// Of a name and a PATH of so many bytes all files that they may name are some hundred MiB: nothing
// that the process may keep that all jobs hang on.
TEST_F(SpawnerHost, ALongSearchPathTakesNoMemoryOfTheParent) {
  PREPARE_OR_SKIP(kV1Bare);
  {
    constexpr std::size_t kLong = 20'000;
    constexpr long kSomeKib = 50 << 10;
    const cgroup::Leaf leaf = ground_->leaf("job");
    SpawnRequest request = request_in(leaf, {std::string(kLong, 'x')});
    request.env = {"PATH=" + std::string(kLong, ':')};
    const auto peak_kib = [] {
      rusage usage{};
      ::getrusage(RUSAGE_SELF, &usage);
      return usage.ru_maxrss;
    };
    const long before = peak_kib();
    expect_failure(request, SpawnStep::exec, ENAMETOOLONG);
    EXPECT_LT(peak_kib() - before, kSomeKib);
    request.argv = {"true"};
    request.env = {"PATH=" + std::string(kLong, 'd') + ":/usr/bin:/bin"};
    guardian::Spawner spawner(no_signals());
    EXPECT_EQ(spawn_or_again(spawner, request), kBorn) << "one that is too long is passed over";
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
    expect_failure(with([](SpawnRequest& r) { r.argv = {"true", std::string(200'000, 'x')}; }),
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

TEST_F(SpawnerHost, AnotherUserDoesNotPossessTheCallersKeys) {
  PREPARE_OR_SKIP(kV1Bare);
  constexpr const char* kKey = "plimsoll-test-key";
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  if (::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr) < 0 ||
      ::syscall(SYS_add_key, "user", kKey, "x", 1, KEY_SPEC_SESSION_KEYRING) < 0) {
    GTEST_SKIP() << "no keys here";
  }
  {
    const cgroup::Leaf leaf = ground_->leaf("job");
    guardian::Spawner spawner(no_signals());
    SpawnRequest request = request_in(leaf, {"cat", "/proc/keys"});
    ASSERT_EQ(spawn(spawner, request), kBorn);
    EXPECT_THAT(output_, HasSubstr(kKey));
    request.identity = guardian::Identity{65534, 65534, {}};
    ASSERT_EQ(spawn(spawner, request), kBorn);
    EXPECT_THAT(output_, Not(HasSubstr(kKey)));
    release();
  }
}

TEST_F(SpawnerHost, SignalsAreTheCallersOrAsByDefault) {
  PREPARE_OR_SKIP(kV1Bare);
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  {
    const cgroup::Leaf leaf = ground_->leaf("job");
    sigset_t blocked = no_signals();
    sigaddset(&blocked, SIGUSR1);
    guardian::Spawner spawner(blocked);
    SpawnRequest request = request_in(leaf, {"grep", "-E", "^Sig(Blk|Ign):", "/proc/self/status"});
    ASSERT_EQ(spawn(spawner, request), kBorn);
    EXPECT_THAT(lines(output_), ElementsAre("SigBlk:\t0000000000000200", EndsWith("1000")));
    request.signals = guardian::Signals::set_default;
    ASSERT_EQ(spawn(spawner, request), kBorn);
    EXPECT_THAT(lines(output_),
                ElementsAre("SigBlk:\t0000000000000000", "SigIgn:\t0000000000000000"));
    release();
  }
  ::signal(SIGPIPE, before);
}

}  // namespace
}  // namespace plimsoll::testing
