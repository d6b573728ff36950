// Calls of a service that is closed, while the loop has no time for them.
#include "daemon/api/jobs_rpc_service.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "daemon/api/job_service.h"
#include "plimsoll/v1/jobs.grpc.pb.h"

namespace plimsoll::daemon {
namespace {

// A server without connections, whose loop never turns.
struct JobsServiceTest : ::testing::Test {
  void SetUp() override {
    grpc::ServerBuilder builder;
    builder.RegisterService(jobs.service());
    server = builder.BuildAndStart();
    stub = v1::Jobs::NewStub(server->InProcessChannel({}));
  }

  loop::Loop loop = std::move(*loop::Loop::create());
  Gate gate{loop};
  JobsRpcService jobs{gate, {}, {}};
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

}  // namespace
}  // namespace plimsoll::daemon
