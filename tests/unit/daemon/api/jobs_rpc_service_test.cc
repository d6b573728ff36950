// Calls of a service that is closed, while the loop has no time for them.
#include "daemon/api/jobs_rpc_service.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "daemon/api/job_service.h"
#include "plimsoll/v1/jobs.grpc.pb.h"

namespace plimsoll::daemon {
namespace {

// A server without connections, whose loop never turns.
struct JobsServiceTest : ::testing::Test {
  explicit JobsServiceTest(Callers callers = {}) : jobs{gate, {}, std::move(callers)} {}
  void SetUp() override {
    grpc::ServerBuilder builder;
    builder.RegisterService(jobs.service());
    server = builder.BuildAndStart();
    stub = v1::Jobs::NewStub(server->InProcessChannel({}));
  }

  loop::Loop loop = std::move(*loop::Loop::create());
  Gate gate{loop};
  JobsRpcService jobs;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<v1::Jobs::Stub> stub;
  grpc::ClientContext context;
  v1::JobEvent event;
};

TEST_F(JobsServiceTest, WhoCallsAfterItIsClosedIsToldSo) {
  jobs.close();
  v1::ListResponse response;
  EXPECT_EQ(stub->List(&context, {}, &response).error_code(), grpc::StatusCode::UNAVAILABLE);
  grpc::ClientContext running;
  const auto stream = stub->Run(&running, {});
  EXPECT_FALSE(stream->Read(&event));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(gate.waiting(), 0u);
}

TEST_F(JobsServiceTest, AStreamThatCameBeforeEndsWithTheServer) {
  const auto stream = stub->Watch(&context, {});
  while (gate.waiting() == 0) std::this_thread::yield();
  jobs.close();
  server->Shutdown(std::chrono::system_clock::now());
  EXPECT_FALSE(stream->Read(&event));
  EXPECT_FALSE(stream->Finish().ok());
}

// Whose call was refused has his answer: what he does then is not for the loop.
TEST_F(JobsServiceTest, WhoWasTurnedAwayAndGivesUpTakesNoPlaceAtTheGate) {
  while (gate.post(policy::kHost, [] {})) continue;
  const std::size_t full = gate.waiting();
  for (int i = 0; i < 100; ++i) {
    grpc::ClientContext running;
    const auto stream = stub->Run(&running, {});
    running.TryCancel();
    EXPECT_FALSE(stream->Finish().ok());
  }
  server->Shutdown(std::chrono::system_clock::now());
  server->Wait();
  EXPECT_EQ(gate.waiting(), full);
}

struct JobsOfAUserTest : JobsServiceTest {
  JobsOfAUserTest() : JobsServiceTest(Callers({.uid = kUser}, nullptr)) {
    while (gate.post(supervisor::tenant_of({.uid = kUser}), [] {})) continue;
  }
  static constexpr std::uint32_t kUser = 1000;
};

// Who asks again at once does not have message upon message read without a pause.
TEST_F(JobsOfAUserTest, WhoIsTurnedAwayAgainAndAgainWaitsForThatAnswer) {
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < 3; ++i) {
    grpc::ClientContext submitting, running;
    v1::SubmitResponse response;
    EXPECT_EQ(stub->Submit(&submitting, {}, &response).error_code(), grpc::StatusCode::UNAVAILABLE);
    const auto stream = stub->Run(&running, {});
    EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  }
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 63 * RefusalPace::kFirst);
}

// Nor does the server's end wait for long for those that have not been told.
TEST_F(JobsOfAUserTest, WhoWaitsToBeTurnedAwayIsSoAtTheServersEnd) {
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<v1::JobEvent>>> streams;
  for (int i = 0; i < 20; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    streams.push_back(stub->Run(contexts.back().get(), {}));
    if (i % 2 == 0) contexts.back()->TryCancel();
  }
  server->Shutdown(std::chrono::system_clock::now());
  server->Wait();
  for (const auto& stream : streams) EXPECT_FALSE(stream->Finish().ok());
}

}  // namespace
}  // namespace plimsoll::daemon
