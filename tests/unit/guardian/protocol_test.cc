#include "guardian/protocol.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>

#include "requests.h"

namespace plimsoll::guardian {
namespace {

using cgroup::Controller;
using cgroup::ControllerSet;
using cgroup::Version;
using ::testing::SizeIs;

ino_t inode(int fd) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 ? status.st_ino : 0;
}

UniqueFd copy(int fd) { return UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, 3)); }

// While it lives, this process can open nothing.
class NoDescriptorLeft {
 public:
  NoDescriptorLeft() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptorLeft() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

class ProtocolTest : public ::testing::Test {
 protected:
  template <class Message>
  Message to_supervisor(const Message& message) {
    EXPECT_TRUE(send(ends_.first, FromGuardian(message)));
    return receive<Message>();
  }
  template <class Message>
  Message receive() {
    auto decoded = decode_from_guardian(*ends_.second.receive());
    EXPECT_TRUE(decoded);
    return std::move(std::get<Message>(*decoded));
  }
  FromSupervisor at_guardian() {
    packet_ = *ends_.second.receive();
    auto decoded = decode_from_supervisor(packet_);
    EXPECT_TRUE(decoded);
    return std::move(*decoded);
  }

  std::pair<Channel, Channel> ends_ = *Channel::make_pair();
  Packet packet_;
};

TEST_F(ProtocolTest, WhatTheGuardianTells) {
  const testing::OpenFiles files(1);
  ASSERT_TRUE(send(ends_.first, Started{ChildId{7}, 1234, Birth::moved, copy(files[0])}));
  const auto started = receive<Started>();
  EXPECT_EQ(started.id, ChildId{7});
  EXPECT_EQ(started.pid, 1234);
  EXPECT_EQ(started.birth, Birth::moved);
  EXPECT_EQ(inode(started.pidfd.get()), inode(files[0]));

  const auto failed =
      to_supervisor(StartFailed{ChildId{8}, SpawnStep::exec, std::errc::no_such_file_or_directory});
  EXPECT_EQ(failed.id, ChildId{8});
  EXPECT_EQ(failed.step, SpawnStep::exec);
  EXPECT_EQ(failed.code, std::errc::no_such_file_or_directory);

  Exited message{ChildId{9}, {WaitStatus::Kind::signalled, 9}, {}};
  message.usage.ru_maxrss = 4711;
  const auto exited = to_supervisor(message);
  EXPECT_EQ(exited.id, ChildId{9});
  EXPECT_EQ(exited.status, message.status);
  EXPECT_EQ(exited.usage.ru_maxrss, 4711);

  EXPECT_FALSE(exited.leaves_others);
  const auto escaped = to_supervisor(
      Escaped{ChildId{9}, {{4711, "sleep", false}, {4712, std::string(40, 'x'), true}}});
  EXPECT_EQ(escaped.id, ChildId{9});
  ASSERT_THAT(escaped.processes, SizeIs(2));
  EXPECT_EQ(escaped.processes[0].pid, 4711);
  EXPECT_EQ(escaped.processes[0].comm, "sleep");
  EXPECT_FALSE(escaped.processes[0].lives);
  EXPECT_EQ(escaped.processes[1].comm, std::string(15, 'x')) << "as the kernel has it";
  EXPECT_TRUE(escaped.processes[1].lives);
  EXPECT_THAT(to_supervisor(Escaped{ChildId{9}, {}}).processes, SizeIs(0));

  for (const SignalOrigin origin :
       {SignalOrigin::terminal, SignalOrigin::job, SignalOrigin::process}) {
    const auto signalled = to_supervisor(Signalled{15, origin});
    EXPECT_EQ(signalled.number, 15);
    EXPECT_EQ(signalled.origin, origin);
  }
  to_supervisor(Resumed{});
}

TEST_F(ProtocolTest, WhatTheSupervisorAsks) {
  SpawnRequest request;
  request.id = ChildId{3};
  request.argv = {"true", "a b"};
  ASSERT_TRUE(send(ends_.first, request));
  const auto spawn = at_guardian();
  EXPECT_EQ(std::get<ReceivedSpawn>(spawn).id, ChildId{3});
  EXPECT_STREQ(std::get<ReceivedSpawn>(spawn).argv[1], "a b");

  ASSERT_TRUE(send(ends_.first, Over{ChildId{4}}));
  EXPECT_EQ(std::get<Over>(at_guardian()).id, ChildId{4});

  ASSERT_TRUE(send(ends_.first, StopYourself{}));
  EXPECT_TRUE(std::holds_alternative<StopYourself>(at_guardian()));

  ASSERT_TRUE(send(ends_.first, StandWatch{}));
  EXPECT_TRUE(std::holds_alternative<StandWatch>(at_guardian()));

  ASSERT_TRUE(send(ends_.first, DieOf{SIGHUP}));
  EXPECT_EQ(std::get<DieOf>(at_guardian()).signal, SIGHUP);

  ASSERT_TRUE(send(ends_.first, Notify{"READY=1\nSTATUS=x"}));
  EXPECT_EQ(std::get<Notify>(at_guardian()).state, "READY=1\nSTATUS=x");
}

// Else nobody would ever hear of that child.
TEST_F(ProtocolTest, ASpawnRequestWhoseDescriptorsAreLostIsKnownByItsId) {
  const testing::OpenFiles files(2);
  for (const std::size_t size : {std::size_t{1}, Channel::kInlineBytesMax}) {
    SpawnRequest request;
    request.id = ChildId{0x0102030405060708};
    request.argv = {"true", std::string(size, 'x')};
    request.stdio[0] = files[0];
    request.v1_entrances = {files[1]};
    ASSERT_TRUE(send(ends_.first, request));
    {
      const NoDescriptorLeft none;
      EXPECT_EQ(std::get<LostSpawn>(at_guardian()).id, request.id);
    }
    ASSERT_TRUE(send(ends_.first, request));
    EXPECT_EQ(std::get<ReceivedSpawn>(at_guardian()).id, request.id);
  }
}

TEST_F(ProtocolTest, NobodyDiesOfASignalThatAsksNobodyToEnd) {
  ASSERT_TRUE(send(ends_.first, DieOf{SIGCHLD}));
  auto packet = ends_.second.receive();
  ASSERT_TRUE(packet);
  EXPECT_FALSE(decode_from_supervisor(*packet));
}

TEST_F(ProtocolTest, ASpawnRequestOfMegabytes) {
  SpawnRequest request;
  request.argv = {"true"};
  const std::vector<std::string> env(100, "NAME=" + std::string(60'000, 'x'));
  request.env = env;
  ASSERT_TRUE(send(ends_.first, request));
  const auto spawn = at_guardian();
  EXPECT_THAT(std::get<ReceivedSpawn>(spawn).env, SizeIs(101));
  EXPECT_EQ(std::get<ReceivedSpawn>(spawn).env[99], env[99]);
}

TEST_F(ProtocolTest, ATreeIsHandedOverWithItsPlacesInOrder) {
  const testing::OpenFiles files(4);
  for (const bool with_home : {false, true}) {
    HandOver message;
    message.name = "plimsoll-20261121-035916-3f2a91c4";
    message.places.push_back({Version::v2, ControllerSet(), copy(files[0]), copy(files[1]), "a/b"});
    message.places.push_back(
        {Version::v1, ControllerSet(Controller::memory), copy(files[2]), UniqueFd(), ""});
    if (with_home) message.home_procs = copy(files[3]);
    ASSERT_TRUE(send(ends_.first, message));
    const auto received = at_guardian();
    const auto& tree = std::get<HandOver>(received);
    EXPECT_EQ(tree.name, message.name);
    ASSERT_THAT(tree.places, SizeIs(2));
    EXPECT_EQ(tree.places[0].version, Version::v2);
    EXPECT_EQ(tree.places[0].named, "a/b");
    EXPECT_EQ(tree.places[1].named, "");
    EXPECT_EQ(inode(tree.places[0].base.get()), inode(files[0]));
    EXPECT_EQ(inode(tree.places[0].lock.get()), inode(files[1]));
    EXPECT_EQ(tree.places[1].version, Version::v1);
    EXPECT_EQ(tree.places[1].controllers, ControllerSet(Controller::memory));
    EXPECT_EQ(inode(tree.places[1].base.get()), inode(files[2]));
    EXPECT_FALSE(tree.places[1].lock);
    EXPECT_EQ(static_cast<bool>(tree.home_procs), with_home);
    if (with_home) {
      EXPECT_EQ(inode(tree.home_procs.get()), inode(files[3]));
    }
  }
}

TEST_F(ProtocolTest, ATreeWhoseDescriptorsAreMissingIsAnError) {
  const testing::OpenFiles files(2);
  HandOver message;
  message.name = "plimsoll-20261121-035916-3f2a91c4";
  message.places.push_back({Version::v2, ControllerSet(), copy(files[0]), copy(files[1]), ""});
  ASSERT_TRUE(send(ends_.first, message));
  Packet packet = *ends_.second.receive();
  packet.fds.pop_back();
  EXPECT_FALSE(decode_from_supervisor(packet));
}

TEST_F(ProtocolTest, FamiliesAreHandedOverWithWhoIsForeign) {
  for (const std::size_t foreign : {0U, 1U, 3U}) {
    HandOverFamilies message{{.guardian = {.pid = 10, .start = 100},
                              .supervisor = {.pid = 11, .start = 101},
                              .run = "20261121-035916-3f2a91c4",
                              .space = 4026531836,
                              .foreign = {}}};
    message.run.foreign.assign(foreign, {.pid = 12, .start = 50});
    ASSERT_TRUE(send(ends_.first, message));
    const auto received = at_guardian();
    const auto& run = std::get<HandOverFamilies>(received).run;
    EXPECT_EQ(run.run, message.run.run);
    EXPECT_EQ(run.guardian, message.run.guardian);
    EXPECT_EQ(run.supervisor, message.run.supervisor);
    EXPECT_EQ(run.space, message.run.space);
    EXPECT_EQ(run.foreign, message.run.foreign);
  }
}

RC_GTEST_PROP(Protocol, AnyBytesAreAMessageOrAnError, ()) {
  const auto tag = *rc::gen::element('S', 'F', 'X', 's', 'r', 'p', 'h', 'f', 'z', '?');
  const auto body = *rc::gen::arbitrary<std::string>();
  Packet packet{tag + body, {}};
  (void)decode_from_supervisor(packet);
  (void)decode_from_guardian(Packet{tag + body, {}});
}

}  // namespace
}  // namespace plimsoll::guardian
