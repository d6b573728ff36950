#include "engine/conductor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace plimsoll::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr policy::AttemptEnd kOk{.outcome = policy::Outcome::exited, .exit_code = 0, .wall = 1s};

// Remembers what it was asked for.
class FakeWorld final : public policy::World {
 public:
  [[nodiscard]] Instant now() const override { return now_; }
  void start(const policy::Start& start) override { say("start", start.job); }
  void freeze(JobId job) override { say("freeze", job); }
  void thaw(JobId job) override { say("thaw", job); }
  void reclaim(std::optional<JobId>, Bytes) override { asked.push_back("reclaim"); }
  void kill(JobId job, policy::Outcome cause, std::string) override {
    say("kill " + std::string(policy::name_of(cause)), job);
  }
  void wake_at(std::optional<Instant> when) override { wake = when; }

  std::vector<std::string> take() { return std::exchange(asked, {}); }

  Instant now_{};
  std::vector<std::string> asked;
  std::optional<Instant> wake;

 private:
  void say(const std::string& verb, JobId job) {
    asked.push_back(verb + " " + std::to_string(static_cast<std::uint64_t>(job)));
  }
};

struct Scene {
  explicit Scene(policy::QueueConfig queue = {.jobs_max = 100})
      : conductor({.queue = queue, .governor = {.line = Bytes{std::uint64_t{8} << 30}, .cores = 8}},
                  estimator,
                  {.event = [this](const policy::Event& event) { kinds[event.kind]++; },
                   .over = [this](const JobOver& over) { overs.push_back(over); }}) {}

  void enter(unsigned id, std::vector<JobId> needs = {}) {
    policy::JobSpec job;
    job.id = JobId{id};
    job.name = std::to_string(id);
    job.job_class = "class";
    job.command = std::string("true");
    job.needs = std::move(needs);
    job.timeout = timeout;
    conductor.enter(job);
  }
  void at(Duration t) { world.now_ = Instant(t); }
  void wakes(Duration t) {
    at(t);
    conductor.on_wake();
  }

  policy::Estimator estimator;
  FakeWorld world;
  std::map<policy::EventKind, int> kinds;
  std::vector<JobOver> overs;
  std::optional<Duration> timeout;
  Conductor conductor;
};

TEST(Conductor, StartsWhatIsReadyAndThenWhatNeededIt) {
  Scene run;
  run.enter(1);
  run.enter(2, {JobId{1}});
  run.conductor.begin(run.world);
  EXPECT_THAT(run.world.take(), ElementsAre("start 1"));
  run.at(1s);
  run.conductor.on_over(JobId{1}, kOk);
  EXPECT_THAT(run.world.take(), ElementsAre("start 2"));
  run.conductor.on_over(JobId{2}, kOk);
  EXPECT_TRUE(run.conductor.is_over());
  EXPECT_EQ(run.overs.size(), 2u);
  EXPECT_EQ(run.kinds[policy::EventKind::queued], 2);
  EXPECT_EQ(run.kinds[policy::EventKind::admitted], 2);
  EXPECT_EQ(run.kinds[policy::EventKind::started], 2);
  EXPECT_EQ(run.kinds[policy::EventKind::ended], 2);
}

TEST(Conductor, AWaitingJobCanBeWithdrawnARunningOneNot) {
  Scene run({.jobs_max = 1});
  run.enter(1);
  run.enter(2);
  run.conductor.begin(run.world);
  EXPECT_FALSE(run.conductor.withdraw(JobId{1}, "changed my mind"));
  EXPECT_TRUE(run.conductor.withdraw(JobId{2}, "changed my mind"));
  EXPECT_FALSE(run.conductor.withdraw(JobId{2}, "changed my mind"));
  ASSERT_EQ(run.overs.size(), 1u);
  EXPECT_FALSE(run.overs[0].end);
  EXPECT_FALSE(run.overs[0].requeue);
  run.conductor.on_over(JobId{1}, kOk);
  EXPECT_TRUE(run.conductor.is_over());
}

TEST(Conductor, JobsMaxStaysAnUpperBound) {
  Scene run({.jobs_max = 1});
  run.enter(1);
  run.enter(2);
  run.conductor.begin(run.world);
  EXPECT_THAT(run.world.take(), ElementsAre("start 1"));
  run.conductor.set_jobs_max(2);
  EXPECT_THAT(run.world.take(), ElementsAre("start 2"));
}

TEST(Conductor, AFailedNeedSkips) {
  Scene run;
  run.enter(1);
  run.enter(2, {JobId{1}});
  run.conductor.begin(run.world);
  run.conductor.on_over(JobId{1}, {.outcome = policy::Outcome::exited, .exit_code = 1});
  EXPECT_TRUE(run.conductor.is_over());
  ASSERT_EQ(run.overs.size(), 2u);
  EXPECT_FALSE(run.overs[1].end);
}

TEST(Conductor, PausedTimeDoesNotCountForTheTimeout) {
  Scene run;
  run.timeout = 10s;
  run.enter(1);
  run.conductor.begin(run.world);
  run.world.take();
  EXPECT_EQ(run.world.wake, Instant(10s));
  run.at(4s);
  ASSERT_TRUE(run.conductor.pause(JobId{1}));
  EXPECT_THAT(run.world.take(), ElementsAre("freeze 1"));
  run.wakes(100s);
  EXPECT_THAT(run.world.take(), IsEmpty());
  ASSERT_TRUE(run.conductor.resume(JobId{1}));
  EXPECT_THAT(run.world.take(), ElementsAre("thaw 1"));
  run.wakes(105s);
  EXPECT_THAT(run.world.take(), IsEmpty());
  run.wakes(106s);
  EXPECT_THAT(run.world.take(), ElementsAre("kill timed_out 1"));
  run.wakes(107s);
  EXPECT_THAT(run.world.take(), IsEmpty());
}

TEST(Conductor, InterruptsAsTheQueueDoes) {
  Scene run({.jobs_max = 1});
  run.enter(1);
  run.enter(2);
  run.conductor.begin(run.world);
  run.world.take();
  run.conductor.interrupt();
  EXPECT_THAT(run.world.take(), IsEmpty());
  EXPECT_EQ(run.overs.size(), 1u);  // job 2 was skipped
  run.conductor.interrupt();
  EXPECT_THAT(run.world.take(), ElementsAre("kill cancelled 1"));
  run.conductor.on_over(JobId{1}, {.outcome = policy::Outcome::cancelled});
  EXPECT_TRUE(run.conductor.is_over());
}

TEST(Conductor, ALostAttemptRunsAgainAndIsKnownToNeedMore) {
  Scene run;
  run.enter(1);
  run.conductor.begin(run.world);
  run.world.take();
  run.at(1s);
  const Bytes reached{std::uint64_t{3} << 30};
  run.conductor.on_job(JobId{1}, {.ran = 1s, .used = reached, .peak = reached, .cpu = 1s});
  run.conductor.on_over(JobId{1}, {.outcome = policy::Outcome::evicted, .signal = 9});
  ASSERT_EQ(run.overs.size(), 1u);
  EXPECT_TRUE(run.overs[0].requeue);
  EXPECT_EQ(run.kinds[policy::EventKind::requeued], 1);
  run.wakes(5s);
  EXPECT_THAT(run.world.take(), ElementsAre("start 1"));
  ASSERT_EQ(run.conductor.status().jobs.size(), 1u);
  EXPECT_GT(run.conductor.status().jobs[0].estimate, reached);
  EXPECT_GT(run.conductor.counts().lost_cpu, Duration{});
}

TEST(Conductor, JudgesItsEstimatesByAttemptsThatSucceeded) {
  Scene run;
  run.enter(1);
  run.enter(2);
  run.conductor.begin(run.world);
  run.at(1s);
  // More than anybody believes of a command that nothing is known of.
  const Bytes much{std::uint64_t{7} << 30};
  for (const JobId job : {JobId{1}, JobId{2}}) {
    run.conductor.on_job(job, {.ran = 1s, .used = much, .peak = much, .cpu = 1s});
  }
  run.conductor.on_over(JobId{1}, {.outcome = policy::Outcome::cancelled, .signal = 9});
  EXPECT_EQ(run.conductor.calibration().attempts(), 0u);
  run.conductor.on_over(JobId{2}, kOk);
  EXPECT_EQ(run.conductor.calibration().attempts(), 1u);
  EXPECT_EQ(run.conductor.calibration().above_mean(), 1);
  EXPECT_EQ(run.conductor.calibration().wasted(), 0);
}

TEST(Conductor, ShowsWhatRuns) {
  Scene run;
  run.enter(1);
  run.conductor.begin(run.world);
  run.at(2s);
  run.conductor.on_job(JobId{1}, {.ran = 2s, .used = Bytes{1000}, .peak = Bytes{1000}, .cpu = 1s});
  run.conductor.on_machine({.pool_used = Bytes{1000},
                            .available = {},
                            .runnable = {},
                            .cores_busy = {},
                            .stall = {},
                            .swap_free = {}});
  const ConductorStatus status = run.conductor.status();
  EXPECT_EQ(status.running, 1u);
  EXPECT_EQ(status.used, Bytes{1000});
  ASSERT_EQ(status.jobs.size(), 1u);
  EXPECT_EQ(status.jobs[0].state, JobState::running);
  EXPECT_EQ(status.jobs[0].ran, Duration(2s));
  EXPECT_EQ(status.jobs[0].used, Bytes{1000});
  EXPECT_TRUE(status.remaining);
  EXPECT_FALSE(run.conductor.pause(JobId{7}));
  EXPECT_FALSE(run.conductor.kill(JobId{7}, "asked for"));
}

TEST(Conductor, RecordsAnAlarmOnceASecond) {
  Scene run;
  run.enter(1);
  run.conductor.begin(run.world);
  const policy::Alarm alarm{.reason = "the line is passed", .numbers = {{"used_bytes", 5}}};
  run.conductor.on_alarm(alarm);
  run.conductor.on_alarm(alarm);
  run.at(999ms);
  run.conductor.on_alarm(alarm);
  EXPECT_EQ(run.kinds[policy::EventKind::alarm], 1);
  run.at(1s);
  run.conductor.on_alarm(alarm);
  EXPECT_EQ(run.kinds[policy::EventKind::alarm], 2);
}

TEST(Conductor, TellsTheLineThatHolds) {
  Scene run;
  run.conductor.begin(run.world);
  run.conductor.set_line(Bytes{4000}, "the user has set another line");
  EXPECT_EQ(run.conductor.line(), Bytes{4000});
  EXPECT_EQ(run.kinds[policy::EventKind::line], 1);
}

TEST(Conductor, AShareFromBeforeTheBeginningIsTold) {
  Scene run;
  run.conductor.set_share({.line = Bytes{4000}, .cores = 1}, "others run here");
  EXPECT_EQ(run.kinds[policy::EventKind::line], 0);
  run.conductor.begin(run.world);
  EXPECT_EQ(run.kinds[policy::EventKind::line], 1);
  EXPECT_EQ(run.conductor.status().cores, 1);
}

}  // namespace
}  // namespace plimsoll::engine
