// One server for each user, with connections that we hand over.
#include "daemon/grpc/user_servers.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <thread>

#include "base/loop/loop.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpcpp/create_channel_posix.h"
#include "plimsoll/v1/jobs.grpc.pb.h"

namespace plimsoll::daemon {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

constexpr Duration kGenerous = std::chrono::seconds(30);

// Of users without services of ours.
struct NoServices : UserServicesMaker {
  UserServices make(const supervisor::Peer& /*peer*/) override { return {}; }
  void turned_away(const Error& why) override { ADD_FAILURE() << why.message(); }
};

// A loop, and servers that are made when it turns.
struct UserServersTest : ::testing::Test {
  // Until everybody is with his server.
  void settle() { settle(servers); }
  void settle(const UserServers& those) {
    const Instant deadline = loop::now() + kGenerous;
    while (those.waiting() > 0 && loop::now() < deadline) {
      ASSERT_TRUE(loop.run_once(std::chrono::seconds(1)));
    }
    ASSERT_EQ(those.waiting(), 0u);
  }

  loop::Loop loop = std::move(*loop::Loop::create());
  NoServices nothing;
  UserServers servers{loop, nothing};
};

// A user of this number with one connection, which can't be made anew.
struct User {
  User(UserServers& servers, std::uint32_t uid, std::uint32_t gid = 0) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
    accepted = servers.accept(UniqueFd(ends[1]), {.uid = uid, .gid = gid});
    channel = grpc::CreateInsecureChannelFromFd("user", ends[0]);
    stub = Health::NewStub(channel);
  }

  [[nodiscard]] bool is_served() const {
    grpc::ClientContext asking;
    asking.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    HealthCheckResponse response;
    return stub->Check(&asking, {}, &response).ok();
  }

  // Whether it is served no more within 30 s: its server is closed on a thread of its own.
  [[nodiscard]] bool is_let_go() const {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (is_served()) {
      if (std::chrono::steady_clock::now() > until) return false;
    }
    return true;
  }

  // A call that stays open.
  void follow() {
    reader = stub->Watch(&watching, {});
    HealthCheckResponse response;
    EXPECT_TRUE(reader->Read(&response));
  }

  Result<void> accepted;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<Health::Stub> stub;
  grpc::ClientContext watching;
  std::unique_ptr<grpc::ClientReader<HealthCheckResponse>> reader;
};

std::vector<std::unique_ptr<User>> as_many_as_may_be(UserServers& servers) {
  std::vector<std::unique_ptr<User>> users;
  for (std::uint32_t uid = 1; uid <= UserServers::kUsersMax; ++uid) {
    users.push_back(std::make_unique<User>(servers, uid));
    EXPECT_TRUE(users.back()->accepted) << uid;
  }
  return users;
}

TEST_F(UserServersTest, ForOneMoreTheOneGoesThatHasNoCall) {
  const auto users = as_many_as_may_be(servers);
  settle();
  for (const auto& user : users) ASSERT_TRUE(user->is_served());
  users[0]->follow();
  const User another(servers, 1000);
  ASSERT_TRUE(another.accepted) << another.accepted.error().message();
  settle();
  EXPECT_TRUE(another.is_served());
  EXPECT_TRUE(users[1]->is_let_go()) << "the one that came first, after the one that has a call";
  EXPECT_TRUE(users[0]->is_served());
  EXPECT_TRUE(users[2]->is_served());
  for (const auto& user : users) user->watching.TryCancel();
}

TEST_F(UserServersTest, WhileAllHaveCallsNobodyElseIsTaken) {
  const auto users = as_many_as_may_be(servers);
  settle();
  for (const auto& user : users) user->follow();
  const User another(servers, 1000);
  ASSERT_FALSE(another.accepted);
  EXPECT_THAT(another.accepted.error().message(), testing::HasSubstr("64 users already"));
  for (const auto& user : users) user->watching.TryCancel();
}

TEST_F(UserServersTest, ButTheHostIs) {
  const auto users = as_many_as_may_be(servers);
  settle();
  for (const auto& user : users) user->follow();
  const User root(servers, 0);
  ASSERT_TRUE(root.accepted) << root.accepted.error().message();
  settle();
  EXPECT_TRUE(root.is_served());
  for (const auto& user : users) user->watching.TryCancel();
}

// Whoever changes his groups is the same user.
TEST_F(UserServersTest, OneUserTakesNobodyElsesPlace) {
  std::vector<std::unique_ptr<User>> many;
  for (std::uint32_t gid = 1; gid <= UserServers::kOfUidMax; ++gid) {
    many.push_back(std::make_unique<User>(servers, 1, gid));
    ASSERT_TRUE(many.back()->accepted);
    settle();
    many.back()->follow();
  }
  const User other(servers, 2);
  settle();
  const User one_more(servers, 1, 100);
  ASSERT_FALSE(one_more.accepted);
  EXPECT_THAT(one_more.accepted.error().message(),
              testing::HasSubstr("8 servers of this user already"));
  EXPECT_TRUE(other.is_served());
  for (const auto& user : many) user->watching.TryCancel();
}

TEST_F(UserServersTest, SetsOfGroupsOfManyTakeNobodyElsesPlace) {
  std::vector<std::unique_ptr<User>> many;
  const auto follows = [&](std::uint32_t uid, std::uint32_t gid) {
    many.push_back(std::make_unique<User>(servers, uid, gid));
    settle();
    if (many.back()->accepted) many.back()->follow();
    return many.back()->accepted.has_value();
  };
  std::uint32_t uid = 0;
  while (many.size() < UserServers::kUsersMax) {
    ++uid;
    for (std::uint32_t gid = 1; gid <= UserServers::kOfUidMax; ++gid) {
      ASSERT_TRUE(follows(uid, gid)) << uid << " " << gid;
    }
  }
  // Each has one, and so has whoever comes; of further ones there are as many as may be for all.
  while (many.size() - uid < UserServers::kFurtherMax) {
    ASSERT_TRUE(follows(++uid, 1)) << many.back()->accepted.error().message();
    for (std::uint32_t gid = 2; gid <= UserServers::kOfUidMax; ++gid) {
      if (many.size() - uid == UserServers::kFurtherMax) break;
      ASSERT_TRUE(follows(uid, gid));
    }
  }
  EXPECT_TRUE(follows(++uid, 1));
  EXPECT_FALSE(follows(uid, 2));
  EXPECT_THAT(many.back()->accepted.error().message(),
              testing::HasSubstr("64 further servers already"));
  EXPECT_TRUE(follows(0, 1)) << "the host";
  EXPECT_TRUE(follows(0, 2));
  for (const auto& user : many) user->watching.TryCancel();
}

TEST_F(UserServersTest, OneUsersConnectionsAreCounted) {
  std::vector<std::unique_ptr<User>> many;
  for (std::size_t i = 0; i < UserServers::kConnectionsOfUserMax; ++i) {
    many.push_back(std::make_unique<User>(servers, 1));
    ASSERT_TRUE(many.back()->accepted) << i;
  }
  settle();
  const User one_more(servers, 1);
  ASSERT_FALSE(one_more.accepted);
  EXPECT_THAT(one_more.accepted.error().message(), testing::HasSubstr("found 256 of this user"));
  EXPECT_TRUE(User(servers, 2).accepted);
  settle();
  many.pop_back();
  // gRPC closes its end on a thread of its own.
  const auto deadline = loop::now() + kGenerous;
  bool taken = false;
  while (!taken && loop::now() < deadline) taken = User(servers, 1).accepted.has_value();
  EXPECT_TRUE(taken);
}

// A service as that of jobs: only the loop, which is the test's thread, answers its calls.
struct AnsweredByTheLoop : v1::Jobs::CallbackService {
  grpc::ServerUnaryReactor* List(grpc::CallbackServerContext* context, const v1::ListRequest*,
                                 v1::ListResponse*) override {
    waiting = context->DefaultReactor();
    waiting.notify_all();
    return waiting;
  }
  std::atomic<grpc::ServerUnaryReactor*> waiting = nullptr;
};

TEST_F(UserServersTest, AsManyConnectionsAsMayBeHaveCalls) {
  std::vector<std::unique_ptr<User>> many;
  for (std::size_t i = 0; i < UserServers::kConnectionsOfUserMax; ++i) {
    many.push_back(std::make_unique<User>(servers, 1));
    ASSERT_TRUE(many.back()->accepted) << i;
    settle();
    many.back()->follow();
  }
  for (const auto& user : many) EXPECT_TRUE(user->is_served());
  for (const auto& user : many) user->watching.TryCancel();
}

// Keeps what it is asked as it came, and answers at its end.
struct KeepsRequests : v1::Jobs::WithRawCallbackMethod_Submit<v1::Jobs::Service> {
  struct Kept : grpc::ServerUnaryReactor {
    explicit Kept(std::atomic<int>& count) : open(count) { ++open; }
    void OnCancel() override { Finish(grpc::Status::CANCELLED); }
    void OnDone() override {
      --open;
      const std::unique_ptr<Kept> last(this);
    }
    std::atomic<int>& open;
  };
  grpc::ServerUnaryReactor* Submit(grpc::CallbackServerContext*, const grpc::ByteBuffer*,
                                   grpc::ByteBuffer*) override {
    return std::make_unique<Kept>(open).release();
  }
  std::atomic<int> open = 0;
};

// What has come for a user's calls and nobody has taken yet; another's calls are no worse for it.
TEST_F(UserServersTest, WhatWaitsForOneUserIsBoundedByItsBytes) {
  struct ForTheFirst : NoServices {
    UserServices make(const supervisor::Peer& peer) override {
      UserServices services;
      if (peer.uid == 1) services.services = {&jobs};
      return services;
    }
    KeepsRequests jobs;
  } maker;
  UserServers two(loop, maker);
  const KeepsRequests& jobs = maker.jobs;
  const User greedy(two, 1), other(two, 2);
  settle(two);
  v1::RunRequest large;
  large.mutable_job()->add_argv(std::string(UserServer::kMessageBytesMax - 1000, 'x'));
  constexpr std::size_t kCalls = 64;
  static_assert(kCalls * UserServer::kMessageBytesMax > 2 * UserServers::kMemoryOfUserMax);
  const auto stub = v1::Jobs::NewStub(greedy.channel);
  std::atomic<std::size_t> refused = 0, over = 0;
  std::vector<grpc::ClientContext> contexts(kCalls);
  std::vector<v1::SubmitResponse> responses(kCalls);
  for (std::size_t i = 0; i < kCalls; ++i) {
    stub->async()->Submit(&contexts[i], &large, &responses[i], [&](const grpc::Status& status) {
      if (status.error_code() != grpc::StatusCode::CANCELLED) ++refused;
      ++over;
      over.notify_all();
    });
  }
  const auto until = loop::now() + std::chrono::seconds(60);
  while (refused == 0 && loop::now() < until) EXPECT_TRUE(other.is_served());
  EXPECT_GT(refused, 0u);
  EXPECT_LT(static_cast<std::size_t>(jobs.open), kCalls);
  for (grpc::ClientContext& context : contexts) context.TryCancel();
  for (std::size_t seen = over; seen < kCalls; seen = over) over.wait(seen);
}

TEST_F(UserServersTest, ACallThatComesAfterTheLookHoldsUpNobody) {
  AnsweredByTheLoop jobs;
  std::vector<std::unique_ptr<User>> users;
  std::thread calls;
  // Between the look, which has found no call, and the shutdown.
  struct Late : UserServices::Owner {
    explicit Late(std::function<void()> call) : calls(std::move(call)) {}
    void close() override { calls(); }
    std::function<void()> calls;
  };
  const auto late = std::make_shared<Late>([&] {
    if (calls.joinable()) return;
    calls = std::thread([&] {
      grpc::ClientContext context;
      v1::ListResponse response;
      [[maybe_unused]] const auto any =
          v1::Jobs::NewStub(users[0]->channel)->List(&context, {}, &response);
    });
    jobs.waiting.wait(nullptr);
  });
  struct ForTheFirst : NoServices {
    UserServices make(const supervisor::Peer& peer) override {
      return peer.uid == 1 ? first : UserServices{};
    }
    UserServices first;
  } maker;
  maker.first.services = {&jobs};
  maker.first.owner = late;
  UserServers of_many(loop, maker);
  users = as_many_as_may_be(of_many);
  settle(of_many);
  for (const auto& user : users) ASSERT_TRUE(user->is_served());
  const User another(of_many, 1000);
  EXPECT_TRUE(another.accepted);
  settle(of_many);
  EXPECT_TRUE(another.is_served());
  ASSERT_NE(jobs.waiting, nullptr);
  jobs.waiting.load()->Finish(grpc::Status::OK);
  calls.join();
}

// Takes as long for one user's server as the test wants.
struct SlowMaker : UserServicesMaker {
  UserServices make(const supervisor::Peer& peer) override {
    if (peer.uid == kSlow) {
      begun.set_value();
      go_on.get_future().wait();
    }
    return {};
  }
  void turned_away(const Error& why) override { turned.push_back(why.message()); }
  static constexpr std::uint32_t kSlow = 7;
  std::promise<void> begun, go_on;
  std::vector<std::string> turned;
};

TEST_F(UserServersTest, TheLoopGoesOnWhileAServerIsMade) {
  SlowMaker maker;
  UserServers slow(loop, maker);
  const User known(slow, 1);
  settle(slow);
  const User first(slow, SlowMaker::kSlow), second(slow, SlowMaker::kSlow);
  ASSERT_TRUE(first.accepted && second.accepted);
  maker.begun.get_future().wait();
  int turns = 0;
  for (; turns < 3; ++turns) {
    bool has_turned = false;
    loop.poster()([&] { has_turned = true; });
    while (!has_turned) ASSERT_TRUE(loop.run_once(kGenerous));
  }
  EXPECT_EQ(slow.waiting(), 2u);
  EXPECT_TRUE(known.is_served()) << "whose server is there";
  const User third(slow, 2);
  EXPECT_EQ(slow.waiting(), 3u);
  slow.drain();
  maker.go_on.set_value();
  settle(slow);
  for (const User* user : {&first, &second, &third}) EXPECT_TRUE(user->is_served());
  EXPECT_TRUE(maker.turned.empty());
}

// Who comes from more sets of groups than may be is refused, also while none of them is made.
TEST_F(UserServersTest, ServersThatAreBeingMadeAreCounted) {
  SlowMaker maker;
  UserServers slow(loop, maker);
  std::vector<std::unique_ptr<User>> many;
  for (std::uint32_t gid = 1; gid <= UserServers::kOfUidMax; ++gid) {
    many.push_back(std::make_unique<User>(slow, SlowMaker::kSlow + 1, gid));
    ASSERT_TRUE(many.back()->accepted);
  }
  const User one_more(slow, SlowMaker::kSlow + 1, 100);
  ASSERT_FALSE(one_more.accepted);
  EXPECT_THAT(one_more.accepted.error().message(),
              testing::HasSubstr("found 8 servers of this user already"));
  settle(slow);
  EXPECT_TRUE(many.back()->is_served());
}

TEST_F(UserServersTest, TheirEndWaitsForTheOneThatIsBeingMade) {
  SlowMaker maker;
  auto slow = std::make_unique<UserServers>(loop, maker);
  const User first(*slow, SlowMaker::kSlow), second(*slow, 1);
  maker.begun.get_future().wait();
  std::thread later([&] { maker.go_on.set_value(); });
  slow.reset();
  later.join();
  ASSERT_TRUE(loop.run_once({})) << "what was posted finds nobody";
  EXPECT_FALSE(first.is_served());
  EXPECT_FALSE(second.is_served());
}

}  // namespace
}  // namespace plimsoll::daemon
