#include "supervisor/run/batch_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <deque>
#include <filesystem>
#include <map>

#include "base/file.h"
#include "unit/supervisor/model_host.h"

// Whole runs on a modelled machine: the scheduler, the executor, the attempts and the collector of
// output are the real ones, the processes and the time are not.
namespace plimsoll::supervisor {
namespace {

using namespace std::chrono_literals;
using namespace plimsoll::literals;
using policy::Outcome;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using testing::UnorderedElementsAre;

struct Told : BatchRunObserver {
  Result<void> on_ready() override {
    return why_not_ready ? Result<void>(tl::unexpected(*why_not_ready)) : Result<void>();
  }
  void on_ended(const policy::JobSpec& job, const report::JobReport& report,
                Bytes received) override {
    reports.emplace(job.name, report);
    order.push_back(job.name);
    bytes[job.name] = received;
  }
  void on_stopping() override { stops.emplace_back("stopping"); }
  void on_resumed() override { stops.emplace_back("resumed"); }
  void on_event(const policy::Event& event) override {
    if (event.kind == policy::EventKind::started) ++starts;
  }
  void on_notice(const std::string& text) override { notices.push_back(text); }
  void on_progress(const Progress& now) override { progress = now; }

  std::optional<Error> why_not_ready;
  std::map<std::string, report::JobReport> reports;
  std::vector<std::string> order, stops, notices;
  std::map<std::string, Bytes> bytes;
  int starts = 0;
  Progress progress;
};

class BatchRunTest : public testing::Test {
 protected:
  BatchRunTest() {
    std::string name = "/var/tmp/plimsoll-batch-XXXXXX";
    directory_ = ::mkdtemp(name.data());
    out_ = UniqueFd(::open((directory_ / "out").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    config_.output.out = config_.output.err = out_.get();
    config_.output.spool_dir = directory_;
    config_.run_id = "run";
    config_.scheduler.queue.jobs_max = 2;
    config_.scheduler.governor = {.line = 64_GiB, .cores = 8, .jobs_max = 2};
    config_.scheduler.governor.order = policy::StartOrder::input;
    host_.program_of = [this](const guardian::SpawnRequest& request) {
      std::deque<model::Program>& script = scripts_[std::string(request.argv.front())];
      model::Program program = script.front();
      if (script.size() > 1) script.pop_front();
      return program;
    };
  }
  ~BatchRunTest() override { std::filesystem::remove_all(directory_); }

  // A job whose attempts run these programs, the last one again and again.
  policy::JobSpec& add(const std::string& name, std::deque<model::Program> attempts) {
    policy::JobSpec& job = config_.jobs.emplace_back();
    job.id = JobId{config_.jobs.size()};
    job.name = name;
    job.command = std::vector<std::string>{name};
    scripts_[name] = std::move(attempts);
    return job;
  }
  void signal_at(Duration when, int number) {
    loop::Clock::Timer& timer = *timers_.emplace_back(host_.timer([this, number] {
      host_.signals->on_signal({.number = number, .origin = guardian::SignalOrigin::terminal});
    }));
    timer.set(host_.now() + when);
  }
  Result<report::RunSummary> run() {
    BatchRun batch(host_, estimator_, config_, told_);
    return batch.run();
  }
  std::string printed() const { return *read_text_at(AT_FDCWD, (directory_ / "out").string()); }

  model::Host host_;
  std::map<std::string, std::deque<model::Program>> scripts_;
  std::filesystem::path directory_;
  UniqueFd out_;
  policy::Estimator estimator_;
  BatchRunConfig config_;
  Told told_;
  std::vector<std::unique_ptr<loop::Clock::Timer>> timers_;
};

TEST_F(BatchRunTest, RunsEachJobOnceAndLeavesNothing) {
  for (const char* name : {"a", "b", "c"}) add(name, {{.runs = 1s, .prints = "x\n"}});
  const auto summary = run();
  ASSERT_TRUE(summary) << summary.error().message();
  EXPECT_EQ(summary->succeeded, 3u);
  EXPECT_EQ(told_.starts, 3);
  EXPECT_EQ(told_.bytes.at("b"), Bytes{2});
  EXPECT_EQ(told_.progress.running, 0u);
  EXPECT_EQ(told_.progress.succeeded, 3u);
  EXPECT_THAT(host_.sets, IsEmpty());
  EXPECT_EQ(host_.signals, nullptr);
}

TEST_F(BatchRunTest, InOrderTheFirstJobIsPrintedFirstThoughItEndsLast) {
  config_.output.order = output::Order::ordered;
  add("slow", {{.runs = 1min, .prints = "slow\n"}});
  add("fast", {{.runs = 1s, .prints = "fast\n"}});
  ASSERT_TRUE(run());
  EXPECT_THAT(told_.order, ElementsAre("fast", "slow"));
  EXPECT_EQ(printed(), "slow\nfast\n");
}

TEST_F(BatchRunTest, OnlyTheOutputOfTheLastAttemptCounts) {
  add("flaky", {{.exit_code = 3, .prints = "no\n"}, {.exit_code = 0, .prints = "yes\n"}}).retries =
      2;
  const auto summary = run();
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->succeeded, 1u);
  EXPECT_THAT(told_.reports.at("flaky").attempts, SizeIs(2));
  EXPECT_EQ(printed(), "yes\n");
  EXPECT_THAT(told_.notices, Contains(HasSubstr("flaky")));
}

TEST_F(BatchRunTest, AJobEndsWhenTheGroupOfAnEarlierAttemptIsGoneToo) {
  add("flaky", {{.runs = 1s, .exit_code = 3}, {.runs = 2s, .exit_code = 0}}).retries = 1;
  model::Set* first = nullptr;
  host_.holds_removals = true;
  host_.on_new_set = [&](model::Set& set) {
    if (first != nullptr) host_.holds_removals = false;
    if (first == nullptr) first = &set;
  };
  const auto late = host_.timer([&] {
    EXPECT_THAT(told_.order, IsEmpty());
    first->gone();
  });
  late->set(host_.now() + 1h);
  ASSERT_TRUE(run());
  const report::JobReport& report = told_.reports.at("flaky");
  ASSERT_THAT(report.attempts, SizeIs(2));
  EXPECT_EQ(report.attempts[0].wall, 1s + 1ms);
  EXPECT_EQ(report.exit_code, 0);
}

TEST_F(BatchRunTest, AJobThatFailsForGoodHasItsLastOutput) {
  add("broken", {{.exit_code = 3, .prints = "one\n"}, {.exit_code = 4, .prints = "two\n"}})
      .retries = 1;
  const auto summary = run();
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->succeeded, 0u);
  EXPECT_EQ(told_.reports.at("broken").exit_code, 4);
  EXPECT_EQ(printed(), "two\n");
}

TEST_F(BatchRunTest, AHaltEndsWhatRunsAndSkipsWhatWaits) {
  config_.scheduler.queue.halt = *policy::parse_halt("now,fail=1");
  add("broken", {{.runs = 1s, .exit_code = 1}});
  add("long", {{.runs = 1h}});
  add("never", {{}});
  const auto summary = run();
  ASSERT_TRUE(summary);
  EXPECT_THAT(summary->outcomes,
              UnorderedElementsAre(Pair(Outcome::exited, 1u), Pair(Outcome::cancelled, 1u),
                                   Pair(Outcome::skipped, 1u)));
}

TEST_F(BatchRunTest, AHaltWhileAJobWaitsForItsRetryMakesItsLastAttemptItsEnd) {
  config_.scheduler.queue.halt = *policy::parse_halt("soon,fail=1");
  add("flaky", {{.runs = 1s, .exit_code = 3, .prints = "last\n"}}).retries = 5;
  add("broken", {{.runs = 1100ms, .exit_code = 1}});
  ASSERT_TRUE(run());
  EXPECT_EQ(told_.reports.at("flaky").exit_code, 3);
  EXPECT_EQ(told_.starts, 2);
  EXPECT_EQ(printed(), "last\n");
}

TEST_F(BatchRunTest, TheFirstInterruptLetsWhatRunsEnd) {
  add("one", {{.runs = 10s, .prints = "done\n"}});
  add("two", {{.runs = 10s}});
  add("never", {{}});
  signal_at(5s, SIGINT);
  const auto summary = run();
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->succeeded, 2u);
  EXPECT_EQ(told_.reports.at("never").outcome, Outcome::skipped);
  EXPECT_EQ(printed(), "done\n");
}

TEST_F(BatchRunTest, TheSecondInterruptKillsIt) {
  add("one", {{.runs = 1h}});
  signal_at(5s, SIGINT);
  signal_at(6s, SIGINT);
  const auto summary = run();
  ASSERT_TRUE(summary);
  EXPECT_EQ(told_.reports.at("one").outcome, Outcome::cancelled);
  EXPECT_EQ(told_.reports.at("one").signal, SIGKILL);
  EXPECT_THAT(told_.notices, SizeIs(2));
}

TEST_F(BatchRunTest, ATermKillsAtOnce) {
  add("one", {{.runs = 1h}});
  signal_at(5s, SIGTERM);
  ASSERT_TRUE(run());
  EXPECT_EQ(told_.reports.at("one").outcome, Outcome::cancelled);
  EXPECT_THAT(told_.notices, ElementsAre(HasSubstr("SIGTERM")));
}

TEST_F(BatchRunTest, TheTerminalStopsAllAndLetsItGoOn) {
  add("one", {{.runs = 10s}});
  signal_at(5s, SIGTSTP);
  const auto resumed = host_.timer([this] { host_.signals->on_resumed(); });
  resumed->set(host_.now() + 1h);
  ASSERT_TRUE(run());
  EXPECT_THAT(told_.stops, ElementsAre("stopping", "resumed"));
  EXPECT_THAT(host_.journal, AllOf(Contains("freeze all"), Contains("stop"), Contains("thaw all")));
}

TEST_F(BatchRunTest, WhatIsNotReadyStartsNothing) {
  add("one", {{}});
  told_.why_not_ready = Error{std::errc::permission_denied, "write the results"};
  const auto summary = run();
  ASSERT_FALSE(summary);
  EXPECT_THAT(summary.error().message(), HasSubstr("write the results"));
  EXPECT_EQ(told_.starts, 0);
}

TEST_F(BatchRunTest, AJobWithoutAGroupFailsAndTheRunGoesOn) {
  host_.no_set = Error{std::errc::no_space_on_device, "make a group"};
  add("one", {{}});
  add("two", {{}});
  const auto summary = run();
  ASSERT_TRUE(summary);
  EXPECT_THAT(summary->outcomes, ElementsAre(Pair(Outcome::failed_to_start, 2u)));
}

TEST_F(BatchRunTest, AJobWhoseNeedFailsIsSkipped) {
  add("first", {{.exit_code = 1}});
  add("second", {{}}).needs = {JobId{1}};
  const auto summary = run();
  ASSERT_TRUE(summary);
  EXPECT_EQ(told_.reports.at("second").outcome, Outcome::skipped);
  EXPECT_THAT(told_.reports.at("second").needs, ElementsAre("first"));
}

}  // namespace
}  // namespace plimsoll::supervisor
