// One server for each user, with connections that we hand over.
#include "rpc/user_servers.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <memory>

#include "grpc/health/v1/health.grpc.pb.h"
#include "grpcpp/create_channel_posix.h"

namespace plimsoll::rpc {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

// A user of this number with one connection, which can't be made anew.
struct User {
  User(UserServers& servers, std::uint32_t uid) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
    accepted = servers.accept(UniqueFd(ends[1]), {.uid = uid});
    stub = Health::NewStub(grpc::CreateInsecureChannelFromFd("user", ends[0]));
  }

  [[nodiscard]] bool is_served() const {
    grpc::ClientContext asking;
    asking.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    HealthCheckResponse response;
    return stub->Check(&asking, {}, &response).ok();
  }

  // A call that stays open.
  void follow() {
    reader = stub->Watch(&watching, {});
    HealthCheckResponse response;
    EXPECT_TRUE(reader->Read(&response));
  }

  Result<void> accepted;
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

TEST(UserServers, ForOneMoreTheOneGoesThatHasNoCall) {
  UserServers servers([](const engine::Peer&) { return UserServices{}; });
  const auto users = as_many_as_may_be(servers);
  for (const auto& user : users) ASSERT_TRUE(user->is_served());
  users[0]->follow();
  const User another(servers, 1000);
  ASSERT_TRUE(another.accepted) << another.accepted.error().message();
  EXPECT_TRUE(another.is_served());
  EXPECT_FALSE(users[1]->is_served()) << "the one that came first, after the one that has a call";
  EXPECT_TRUE(users[0]->is_served());
  EXPECT_TRUE(users[2]->is_served());
  for (const auto& user : users) user->watching.TryCancel();
}

TEST(UserServers, WhileAllHaveCallsNobodyElseIsTaken) {
  UserServers servers([](const engine::Peer&) { return UserServices{}; });
  const auto users = as_many_as_may_be(servers);
  for (const auto& user : users) user->follow();
  const User another(servers, 1000);
  ASSERT_FALSE(another.accepted);
  EXPECT_THAT(another.accepted.error().message(), testing::HasSubstr("64 users already"));
  for (const auto& user : users) user->watching.TryCancel();
}

}  // namespace
}  // namespace plimsoll::rpc
