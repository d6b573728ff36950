// What one user's server takes of him.
#include "daemon/grpc/user_server.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/resource_quota.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "grpc/health/v1/health.grpc.pb.h"
#include "grpcpp/create_channel_posix.h"

namespace plimsoll::daemon {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

struct UserServerTest : ::testing::Test {
  static constexpr std::size_t kCallsMax = 5;

  UserServerTest() {
    share->memory = std::make_shared<grpc::ResourceQuota>();
    share->calls_max = kCallsMax;
    for (UserServer* server : {&one, &other}) EXPECT_TRUE(server->build({}));
  }
  static std::unique_ptr<Health::Stub> connect(const UserServer& server) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
    server.take(UniqueFd(ends[1]));
    return Health::NewStub(grpc::CreateInsecureChannelFromFd("user", ends[0]));
  }

  std::shared_ptr<UserShare> share = std::make_shared<UserShare>();
  UserServer one{share}, other{share};  // of two sets of groups
};

// It would be unpacked, to a thousand times as much, before its length is looked at.
TEST_F(UserServerTest, NoMessageIsUnpacked) {
  const auto stub = connect(one);
  grpc::ClientContext plain, packed;
  packed.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  HealthCheckRequest request;
  request.set_service(std::string(10'000, 'x'));
  HealthCheckResponse response;
  const auto code = stub->Check(&plain, request, &response).error_code();
  EXPECT_TRUE(code == grpc::StatusCode::NOT_FOUND || code == grpc::StatusCode::INVALID_ARGUMENT)
      << code;
  EXPECT_EQ(stub->Check(&packed, request, &response).error_code(), grpc::StatusCode::UNIMPLEMENTED);
}

// Whatever services they are of, and over however many connections.
TEST_F(UserServerTest, CallsOfAllItsServersAreCounted) {
  struct Call {
    explicit Call(Health::Stub& stub) : reader(stub.Watch(&context, {})) {}
    bool is_taken() {
      HealthCheckResponse response;
      return reader->Read(&response);
    }
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<HealthCheckResponse>> reader;
  };
  const auto first = connect(one), second = connect(one), third = connect(other);
  std::vector<std::unique_ptr<Call>> calls;
  while (calls.size() < kCallsMax) {
    calls.push_back(std::make_unique<Call>(calls.size() % 2 == 0 ? *first : *third));
    ASSERT_TRUE(calls.back()->is_taken());
  }
  Call further(*second);
  EXPECT_FALSE(further.is_taken());
  EXPECT_EQ(further.reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  calls.back()->context.TryCancel();
  // gRPC ends a call on a thread of its own.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  bool taken = false;
  while (!taken && std::chrono::steady_clock::now() < until) taken = Call(*second).is_taken();
  EXPECT_TRUE(taken);
  for (const auto& call : calls) call->context.TryCancel();
}

}  // namespace
}  // namespace plimsoll::daemon
