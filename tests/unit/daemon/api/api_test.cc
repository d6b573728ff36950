// The API over a real socket, with gRPC's own threads on both sides.
#include "daemon/api/api.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "plimsoll/v1/governor.grpc.pb.h"
#include "unit/daemon/jobs/fake_jobs.h"

namespace plimsoll::daemon {
namespace {

using ::testing::HasSubstr;

// A directory of its own, removed with all in it that we know of.
struct Folder {
  Folder() { EXPECT_NE(::mkdtemp(path.data()), nullptr); }
  ~Folder() {
    ::unlink(socket().c_str());
    ::rmdir(path.c_str());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string socket() const { return path + "/s"; }
  std::string path = "/tmp/plimsoll-api-XXXXXX";
};

// The daemon's side on a thread of its own; every job is admitted at once.
struct ApiTest : ::testing::Test, supervisor::ExternalJobsHost {
  [[nodiscard]] Instant now() const override { return loop::now(); }
  JobId next_id() override { return JobId{++last}; }
  void enter(const policy::JobSpec& job) override {
    if (!job.name.starts_with("held")) {
      external_jobs.start({.job = job.id, .attempt = 1, .slot = 1});
    }
  }
  void on_sampled(JobId, const policy::JobSample&) override {}
  void on_attempt_over(JobId job, const policy::AttemptEnd& end) override {
    external_jobs.on_job_over({.job = job, .end = end, .requeue = {}, .reason = "over"});
  }
  void withdraw(JobId job, const std::string& reason) override {
    external_jobs.on_job_over({.job = job, .end = {}, .requeue = {}, .reason = reason});
  }
  void cancel(JobId job, const std::string& reason) override {
    external_jobs.kill(job, policy::Outcome::cancelled, reason);
  }
  Result<std::unique_ptr<supervisor::ExternalProcessSet>> open_place(
      const supervisor::ExternalLocation&, const supervisor::Peer&) override {
    return fail("not in this test");
  }

  void SetUp() override {
    auto started =
        Api::start(loop, gate, external_jobs, {}, {.socket = {.path = folder.socket()}}, reporter);
    ASSERT_TRUE(started) << started.error().message();
    api = std::move(*started);
    turns = std::thread([this] {
      while (!stopping) EXPECT_TRUE(loop.run_once(std::chrono::milliseconds(10)));
    });
  }

  void TearDown() override { stop(); }
  void stop() {
    stopping = true;
    if (turns.joinable()) turns.join();
    gate.close();
    while (gate.waiting() > 0) EXPECT_TRUE(loop.run_once(std::chrono::milliseconds(10)));
    api.reset();
  }

  // What is so on the loop's thread.
  std::size_t guests_now() {
    std::atomic<std::size_t> size = 0;
    std::atomic<bool> known = false;
    gate.post_always(policy::kHost, [&] {
      size = external_jobs.size();
      known = true;
    });
    while (!known) std::this_thread::yield();
    return size;
  }

  [[nodiscard]] std::unique_ptr<v1::Governor::Stub> connect() const {
    return v1::Governor::NewStub(
        grpc::CreateChannel("unix:" + folder.socket(), grpc::InsecureChannelCredentials()));
  }

  static v1::GovernRequest entering(const std::string& id) {
    v1::GovernRequest request;
    request.mutable_enter()->set_id(id);
    return request;
  }

  Folder folder;
  std::uint64_t last = 0;
  loop::Loop loop = std::move(*loop::Loop::create());
  Gate gate{loop};
  FakeReporter reporter;
  supervisor::ExternalJobs external_jobs{*this};
  std::unique_ptr<Api> api;
  std::atomic<bool> stopping = false;
  std::thread turns;
};

TEST_F(ApiTest, AStreamCarriesAJob) {
  const auto stub = connect();
  grpc::ClientContext context;
  const auto stream = stub->Govern(&context);
  v1::GovernResponse response;
  ASSERT_TRUE(stream->Write(entering("a")));
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.admit().id(), "a");
  v1::GovernRequest leave;
  leave.mutable_leave()->set_id("a");
  ASSERT_TRUE(stream->Write(leave));
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.left().id(), "a");
  ASSERT_TRUE(stream->WritesDone());
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(ApiTest, ManyMessagesComeInOrder) {
  const auto stub = connect();
  grpc::ClientContext context;
  const auto stream = stub->Govern(&context);
  constexpr int kJobs = 500;
  for (int i = 0; i < kJobs; ++i) ASSERT_TRUE(stream->Write(entering(std::to_string(i))));
  v1::GovernResponse response;
  for (int i = 0; i < kJobs; ++i) {
    ASSERT_TRUE(stream->Read(&response));
    EXPECT_EQ(response.admit().id(), std::to_string(i));
  }
  EXPECT_EQ(guests_now(), std::size_t{kJobs});
  context.TryCancel();
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  while (guests_now() > 0) std::this_thread::yield();
}

TEST_F(ApiTest, AClientThatIsGoneHasNoJobs) {
  {
    auto stub = connect();
    grpc::ClientContext context;
    const auto stream = stub->Govern(&context);
    ASSERT_TRUE(stream->Write(entering("a")));
    ASSERT_TRUE(stream->Write(entering("held")));
    v1::GovernResponse response;
    ASSERT_TRUE(stream->Read(&response));
    context.TryCancel();
  }
  while (guests_now() > 0) std::this_thread::yield();
}

TEST_F(ApiTest, TheDaemonsEndEndsStreams) {
  const auto stub = connect();
  grpc::ClientContext context;
  const auto stream = stub->Govern(&context);
  ASSERT_TRUE(stream->Write(entering("a")));
  v1::GovernResponse response;
  ASSERT_TRUE(stream->Read(&response));
  stop();
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(external_jobs.size(), 0u);
}

TEST_F(ApiTest, MessagesAreBounded) {
  const auto stub = connect();
  grpc::ClientContext context;
  const auto stream = stub->Govern(&context);
  stream->Write(entering(std::string(5 << 20, 'x')));
  v1::GovernResponse response;
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(ApiTest, TheSocketIsTheOwnersAloneAndGoesWithTheApi) {
  struct stat about{};
  ASSERT_EQ(::stat(folder.socket().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  struct : supervisor::ConnectionTaker {
    void take(UniqueFd /*connection*/, const supervisor::Peer& /*peer*/) override {}
  } nobody;
  auto second = supervisor::PeerListener::start(loop, {.path = folder.socket()}, nobody);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message(),
              HasSubstr("a daemon is already running: pid " + std::to_string(::getpid()) +
                        ", socket " + folder.socket()));
  stop();
  EXPECT_NE(::stat(folder.socket().c_str(), &about), 0);
}

}  // namespace
}  // namespace plimsoll::daemon
