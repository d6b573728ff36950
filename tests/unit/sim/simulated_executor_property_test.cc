#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <set>
#include <vector>

#include "seeds.h"
#include "sim/simulated_executor.h"
#include "stage.h"

// Any jobs under any verbs: what holds of the machine itself, whatever a policy does. The seed is
// in the trace of a failure.
namespace plimsoll::sim {
namespace {

using namespace plimsoll::literals;

#ifdef PLIMSOLL_SANITIZED
constexpr std::uint64_t kSeeds = 200;  // each takes some ten times longer
#else
constexpr std::uint64_t kSeeds = 2000;
#endif
constexpr unsigned kActsMax = 400;
// A piece comes back from swap at once, and only then the kernel looks.
constexpr double kSwapSlackMib = 64;

std::vector<SimJob> any_jobs(std::mt19937& random) {
  std::vector<SimJob> jobs;
  const std::size_t count = 1 + random() % 12;
  for (std::size_t number = 1; number <= count; ++number) {
    std::vector<CurvePoint> points;
    double seconds = 0;
    for (std::size_t left = 1 + random() % 8; left > 0; --left) {
      points.push_back({.seconds = seconds,
                        .mib = static_cast<float>(random() % 600),
                        .cores = static_cast<float>(random() % 5) / 2});
      seconds += static_cast<double>(random() % 80) / 10;
    }
    jobs.push_back(job(number, std::move(points)));
  }
  return jobs;
}

// Does what comes to its mind, and checks all that it is told.
class Whim final : public policy::ExecutorObserver {
 public:
  Whim(SimulatedExecutor& executor, const std::vector<SimJob>& jobs, std::mt19937& random)
      : executor_(executor), jobs_(jobs), random_(random) {
    executor_.wake_at(executor_.now());
  }

  void on_job(JobId job, const policy::JobSample& sample) override {
    EXPECT_TRUE(running_.contains(job));
    EXPECT_FALSE(executor_.is_frozen(job));
    EXPECT_LE(sample.used, sample.peak);
    turn();
  }
  void on_machine(const policy::MachineSample& /*sample*/) override { turn(); }
  void on_over(JobId job, const policy::AttemptEnd& end) override {
    EXPECT_EQ(running_.erase(job), 1U) << "over without a start";
    EXPECT_EQ(end.outcome == policy::Outcome::exited, end.exit_code == 0);
    if (policy::succeeded(end)) done_.insert(job);
    ++overs_;
    turn();
  }
  void on_wake() override { turn(); }

  [[nodiscard]] std::uint64_t overs() const { return overs_; }
  [[nodiscard]] std::size_t done() const { return done_.size(); }
  [[nodiscard]] const std::set<JobId>& running() const { return running_; }

 private:
  void turn() {
    check();
    if (++acts_ > kActsMax) {
      // Enough: what is frozen goes on, and everything ends.
      for (const JobId job : running_) executor_.thaw(job);
      executor_.wake_at(std::nullopt);
      return;
    }
    for (auto left = random_() % 3; left > 0; --left) act(JobId{1 + random_() % jobs_.size()});
    executor_.wake_at(executor_.now() + std::chrono::milliseconds(random_() % 3000));
  }

  void act(JobId job) {
    switch (random_() % 6) {
      case 0:
      case 1:
        if (!running_.contains(job) && !done_.contains(job)) {
          running_.insert(job);
          executor_.start({.job = job});
        }
        break;
      case 2: executor_.freeze(job); break;
      case 3: executor_.thaw(job); break;
      case 4: executor_.reclaim(job, Bytes{random_() % (1 << 30)}); break;
      default:
        if (random_() % 4 == 0) executor_.kill(job, policy::Outcome::evicted, "a whim");
        break;
    }
  }

  void check() {
    EXPECT_GE(executor_.now(), last_);
    last_ = executor_.now();
    const Motion& motion = executor_.motion();
    double used = 0;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      EXPECT_GE(motion.job_used_mib(i), 0);
      EXPECT_LE(motion.job_used_mib(i), jobs_[i].curve.peak_mib() + 0.001);
      EXPECT_LE(motion.job_seconds(i), jobs_[i].curve.seconds() + 0.001);
      EXPECT_LE(motion.job_cpu_seconds(i), jobs_[i].curve.cpu_seconds() + 0.001);
      used += motion.job_used_mib(i);
    }
    EXPECT_NEAR(motion.used_mib(), used, 0.001);
    EXPECT_EQ(executor_.attempts_alive(), running_.size());
  }

  SimulatedExecutor& executor_;
  const std::vector<SimJob>& jobs_;
  std::mt19937& random_;
  Instant last_{};
  unsigned acts_ = 0;
  std::uint64_t overs_ = 0;
  std::set<JobId> running_, done_;
};

TEST(MachineProperty, HoldsUnderAnyVerbs) {
  const std::uint64_t first = seeds_from() + 1;
  for (std::uint64_t seed = first; seed < first + kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
    const std::vector<SimJob> jobs = any_jobs(random);
    const MachineConfig machine{.cores = static_cast<double>(1 + random() % 8) / 2,
                                .line = Bytes{(200 + random() % 2000) << 20},
                                .swap = random() % 2 == 0 ? Bytes{} : 1_GiB,
                                .wall = random() % 2 == 0 ? Wall::throttle : Wall::kill};
    SimulatedExecutor executor(machine, jobs);
    Whim whim(executor, jobs, random);
    const Stopped stopped = executor.run(whim);
    const Tally tally = executor.tally();
    if (stopped == Stopped::quiet) {
      EXPECT_TRUE(whim.running().empty()) << "a start without its end";
      EXPECT_EQ(tally.starts, whim.overs());
      EXPECT_NEAR(executor.motion().used_mib(), 0, 0.001);
      EXPECT_EQ(executor.swap_free(), machine.swap);
    }
    EXPECT_EQ(tally.done, whim.done());
    const double line = static_cast<double>(machine.line.count >> 20);
    EXPECT_LE(tally.used_peak_mib, line / kHighShareOfMax + kSwapSlackMib);
    EXPECT_LE(tally.cpu_seconds,
              machine.cores * static_cast<double>(executor.now().time_since_epoch().count()) / 1e9 +
                  0.001);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace plimsoll::sim
