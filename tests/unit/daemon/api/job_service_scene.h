#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/api/job_service.h"
#include "unit/daemon/jobs/fake_jobs.h"

namespace plimsoll::daemon {

// Who follows a job, and reads when the test lets him.
struct FakeFollower : JobWatcher {
  void state(const StateTold& told) override {
    const char* const names[] = {"waiting", "running", "paused"};
    heard.push_back(std::string(names[static_cast<std::size_t>(told.state)]) + " " +
                    std::to_string(told.attempt));
  }
  void output(OutputStream stream, std::string_view data) override {
    (stream == OutputStream::out ? out : err).append(data);
  }
  void ended(const report::JobReport& report, const supervisor::AttemptResult* last) override {
    EXPECT_FALSE(end) << "told twice";
    end = report;
    had_attempt = last != nullptr;
  }
  void lost() override { heard.emplace_back("lost"); }
  [[nodiscard]] bool is_full() const override { return reads_nothing; }

  std::vector<std::string> heard;
  std::string out, err;
  std::optional<report::JobReport> end;
  bool had_attempt = false;
  bool reads_nothing = false;
};

// The job service beside a machine that does as it is told. Pipes are real, processes are not.
struct JobServiceScene : ::testing::Test {
  static JobRequest order(const std::string& name = "") {
    JobRequest request;
    request.spec.command = std::vector<std::string>{"/bin/true"};
    request.spec.name = name;
    return request;
  }
  JobId submit(const std::string& name = "") {
    auto id = service.submit(me, order(name));
    EXPECT_TRUE(id) << id.error().message();
    return id.value_or(JobId{});
  }
  std::shared_ptr<FakeFollower> follow(JobId job) {
    auto follower = std::make_shared<FakeFollower>();
    const auto watching = service.watch(me, job, follower);
    EXPECT_TRUE(watching) << watching.error().message();
    last_watcher = watching.value_or(WatcherId{});
    return follower;
  }
  // Turns of the loop until there is no more to do, or `done`.
  template <class Done>
  void turn_until(Done done) {
    const Instant deadline = loop::now() + std::chrono::seconds(30);
    while (!done() && loop::now() < deadline) {
      ASSERT_TRUE(loop.run_once(std::chrono::milliseconds(50)));
    }
    EXPECT_TRUE(done());
  }
  void exits(JobId job, int code) {
    jobs.exits(job, code);
    jobs.remove_group(job);
  }

  // As the daemon's own user: as nobody else it can run anything without being root.
  const supervisor::Peer me{.uid = ::geteuid(), .gid = ::getegid()};
  const supervisor::Peer somebody{.uid = ::geteuid() + 1};
  loop::Loop loop = std::move(*loop::Loop::create());
  FakeJobs jobs;
  FakeReporter reporter;
  WatcherId last_watcher{};
  JobService service{{.loop = loop, .jobs = jobs, .reporter = reporter, .processes_max = 100}};
};

}  // namespace plimsoll::daemon
