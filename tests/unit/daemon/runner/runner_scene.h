#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "daemon/runner/runner.h"
#include "unit/base/loop/fake_clock.h"
#include "unit/daemon/api/tree.h"
#include "unit/daemon/jobs/fake_jobs.h"

namespace plimsoll::daemon {

// Directories whose files answer at once, or hang until the test lets them go on.
class FakeLanes : public Lanes {
 public:
  void submit(const std::string& lane, Work work, Done done, Step /*step*/) override {
    if (given_up_.contains(lane)) {
      refused_.emplace_back(lane, std::move(done));
    } else {
      calls_.push_back({.lane = lane, .work = std::move(work), .done = std::move(done)});
    }
  }

  void hang(const std::string& lane) { hung_.insert(lane); }
  void answer_again(const std::string& lane) {
    hung_.erase(lane);
    given_up_.erase(lane);
    turn();
  }
  // What hangs has had its time: it is answered, and so is what comes for it.
  void lose_patience() {
    given_up_ = hung_;
    std::deque<Call> lost;
    std::erase_if(calls_, [&](Call& call) {
      if (!hung_.contains(call.lane)) return false;
      lost.push_back(std::move(call));
      return true;
    });
    for (Call& call : lost) refuse(call.lane, call.done);
    turn();
  }
  // Does all that can be done.
  void turn() {
    while (do_one()) continue;
  }
  [[nodiscard]] std::size_t waiting() const { return calls_.size(); }

 private:
  struct Call {
    std::string lane;
    Work work;
    Done done;
  };

  static void refuse(const std::string& lane, const Done& done) {
    done({Code::unavailable, "The files at \"" + lane + "\" have not answered"});
  }

  bool do_one() {
    if (!refused_.empty()) {
      const auto [lane, done] = std::move(refused_.front());
      refused_.pop_front();
      refuse(lane, done);
      return true;
    }
    for (auto it = calls_.begin(); it != calls_.end(); ++it) {
      if (hung_.contains(it->lane)) continue;
      const Call call = std::move(*it);
      calls_.erase(it);
      FileTurn turn;
      call.done(call.work(turn));
      return true;
    }
    return false;
  }

  std::deque<Call> calls_;
  std::deque<std::pair<std::string, Done>> refused_;
  std::set<std::string> hung_, given_up_;
};

// A command that ends when the test says so.
struct FakeCleaning : CleaningCommand {
  void run(const std::vector<std::string>& /*argv*/, Lanes::Done done) override {
    ++runs;
    under_way = std::move(done);
  }
  void ends(const Status& status = {}) { std::exchange(under_way, nullptr)(status); }
  std::size_t runs = 0;
  Lanes::Done under_way;
};

// A worker that has asked for something and waits.
struct FakeCall : WorkerCall {
  void checked(const Status& status) override {
    EXPECT_FALSE(readiness) << "answered twice";
    readiness = status;
  }
  void ran(const RunAnswer& told) override {
    EXPECT_FALSE(answer) << "answered twice";
    answer = told;
  }
  [[nodiscard]] Status status() const {
    return answer ? answer->status : Status{Code::unknown, ""};
  }
  std::optional<Status> readiness;
  std::optional<RunAnswer> answer;
};

// A runner with a worker's build directory, for actions of /bin/true that nobody executes.
class RunnerScene : public BuildTree {
 protected:
  Runner& runner() {
    if (!runner_) {
      settings.build_directory = build;
      runner_ = std::make_unique<Runner>(RunnerDeps{.jobs = jobs,
                                                    .files = files,
                                                    .cleaning_command = cleaning,
                                                    .clock = clock,
                                                    .reporter = reporter},
                                         settings);
    }
    return *runner_;
  }

  [[nodiscard]] static ActionRequest action(const std::string& name = "1") {
    return {.arguments = {"/bin/true"},
            .environment = {},
            .working_directory = "",
            .stdout_path = name + "/stdout",
            .stderr_path = name + "/stderr",
            .input_root = name + "/root",
            .temporary_directory = name + "/tmp",
            .server_logs = name + "/server_logs",
            .time_left = {}};
  }
  void lay_out(const std::string& name) {
    for (const char* part : {"/root", "/tmp", "/server_logs"}) {
      std::filesystem::create_directories(build / (name + part));
    }
  }

  // As far as it comes by itself.
  CallId run(FakeCall& call, ActionRequest asked) {
    const CallId id = runner().new_call();
    runner().run(id, std::move(asked), call);
    files.turn();
    return id;
  }
  CallId run(FakeCall& call) { return run(call, action()); }
  void exits(JobId job, int code) {
    jobs.exits(job, code);
    jobs.remove_group(job);
    files.turn();
  }
  void reap() {
    jobs.reap();
    files.turn();
  }
  void check(FakeCall& call) {
    runner().check("1", call);
    files.turn();
  }

  [[nodiscard]] std::string lane(const std::string& name = "1") const {
    return build.string() + "/" + name + "/root/";
  }
  [[nodiscard]] std::string text_of(const std::string& path) const {
    std::ostringstream text;
    text << std::ifstream(build / path).rdbuf();
    return text.str();
  }

  RunnerSettings settings;
  FakeJobs jobs;
  FakeLanes files;
  FakeCleaning cleaning;
  loop::FakeClock clock;
  FakeReporter reporter;

 private:
  std::unique_ptr<Runner> runner_;
};

}  // namespace plimsoll::daemon
