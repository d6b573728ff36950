// How far the time that a run is said to take still can be trusted: simulated runs of many seeds,
// asked when a tenth, half and nine tenths of them were over. Of a median, half of the true ends
// lie before it: eta_bench [SEEDS]
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "policy/scheduler/scheduler.h"
#include "sim/simulated_executor.h"
#include "sim/simulated_scheduler.h"

namespace {

using namespace plimsoll;

// The standard's distributions differ between libraries; its engine does not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double share() { return static_cast<double>(engine_() >> 11U) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * share(); }
  // Of a logarithmic normal distribution.
  double around(double median, double sigma) {
    constexpr double kTwoPi = 6.283185307179586;
    const double normal = std::sqrt(-2 * std::log(1 - share())) * std::cos(kTwoPi * share());
    return median * std::exp(sigma * normal);
  }

 private:
  std::mt19937_64 engine_;
};

struct Job {
  std::string job_class;
  double seconds = 1, mib = 10, cores = 0.1;
};

sim::SimJob sim_job(std::size_t number, const Job& job) {
  const auto mib = static_cast<float>(job.mib);
  const auto cores = static_cast<float>(job.cores);
  sim::SimJob made{.spec = {},
                   .curve = sim::Curve({{.seconds = 0, .mib = mib / 10, .cores = cores},
                                        {.seconds = job.seconds / 2, .mib = mib, .cores = cores},
                                        {.seconds = job.seconds, .mib = mib, .cores = cores}})};
  made.spec.id = JobId{number};
  made.spec.name = std::to_string(number);
  made.spec.job_class = job.job_class;
  made.spec.command = "job " + made.spec.name;
  return made;
}

struct Scenario {
  std::string_view name;
  unsigned jobs_max;
  double cores, line_mib;
  std::vector<Job> (*jobs)(Random&);
};

std::vector<Job> sleeps(Random& random) {
  std::vector<Job> jobs(30, {.job_class = "sleep", .seconds = 3, .mib = 1, .cores = 0.01});
  jobs.resize(static_cast<std::size_t>(random.between(15, 60)), jobs.front());
  return jobs;
}

std::vector<Job> sleeps_of_3_to_5(Random& random) {
  std::vector<Job> jobs(40);
  for (Job& job : jobs) job = {"sleep", random.between(3, 5), 1, 0.01};
  return jobs;
}

std::vector<Job> computing(Random& random) {
  std::vector<Job> jobs(static_cast<std::size_t>(random.between(20, 200)));
  for (Job& job : jobs) job = {"compute", random.around(8, 0.5), 50, 1};
  return jobs;
}

std::vector<Job> in_memory(Random& random) {
  std::vector<Job> jobs(static_cast<std::size_t>(random.between(20, 120)));
  for (Job& job : jobs) job = {"numpy", random.around(5, 0.3), random.between(100, 500), 0.3};
  return jobs;
}

std::vector<Job> mixed(Random& random) {
  std::vector<Job> jobs(static_cast<std::size_t>(random.between(40, 200)));
  std::array<Job, 5> kinds;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    kinds[i] = {"class " + std::to_string(i), random.around(10, 1), random.around(150, 1),
                random.between(0.1, 1)};
  }
  for (Job& job : jobs) {
    job = kinds[static_cast<std::size_t>(random.between(0, kinds.size()))];
    job.seconds = random.around(job.seconds, 0.4);
    job.mib = std::min(1000.0, random.around(job.mib, 0.2));
  }
  return jobs;
}

constexpr auto kScenarios = std::to_array<Scenario>({
    {"sleep 3, -j2", 2, 2, 16'000, sleeps},
    {"40 x sleep 3..5, -j8", 8, 2, 16'000, sleeps_of_3_to_5},
    {"40 x sleep 3..5, no -j", 1'000'000, 2, 16'000, sleeps_of_3_to_5},
    {"one class that computes", 1'000'000, 4, 64'000, computing},
    {"one class in little memory", 1'000'000, 8, 1'500, in_memory},
    {"five classes", 1'000'000, 4, 3'000, mixed},
});

// Runs jobs and notes what it is said to take still.
class Run final : public policy::ExecutorObserver {
 public:
  struct Said {
    double elapsed = 0;
    std::optional<Duration> left;
  };

  Run(const Scenario& scenario, std::span<const sim::SimJob> jobs, policy::Estimator& estimator,
      sim::SimulatedExecutor& executor)
      : executor_(executor), scheduler_(config_of(scenario), estimator, nullptr) {
    for (const sim::SimJob& job : jobs) scheduler_.enter(job.spec);
    scheduler_.begin(executor);
  }

  void on_job(JobId job, const policy::JobSample& sample) override {
    scheduler_.on_job(job, sample);
    note();
  }
  void on_last_look(JobId job, const policy::JobSample& sample) override {
    scheduler_.on_last_look(job, sample);
  }
  void on_machine(const policy::MachineSample& sample) override {
    scheduler_.on_machine(sample);
    note();
  }
  void on_over(JobId job, const policy::AttemptEnd& end) override {
    scheduler_.on_over(job, end);
    if (!scheduler_.is_over()) note();
    makespan_ = elapsed();
  }
  void on_wake() override { scheduler_.on_wake(); }

  [[nodiscard]] double makespan() const { return makespan_; }
  // What was said last when this share of it was over.
  [[nodiscard]] Said at(double share) const {
    Said last;
    for (const Said& said : said_) {
      if (said.elapsed <= share * makespan_) last = said;
    }
    return last;
  }

 private:
  static policy::SchedulerConfig config_of(const Scenario& scenario) {
    policy::SchedulerConfig config;
    config.queue.jobs_max = scenario.jobs_max;
    config.governor.line = Bytes{static_cast<std::uint64_t>(scenario.line_mib) << 20U};
    config.governor.cores = scenario.cores;
    return config;
  }
  [[nodiscard]] double elapsed() const { return to_seconds(executor_.now().time_since_epoch()); }
  void note() {
    if (!said_.empty() && elapsed() < said_.back().elapsed + 0.1) return;
    said_.push_back({elapsed(), scheduler_.status().remaining});
  }

  sim::SimulatedExecutor& executor_;
  policy::Scheduler scheduler_;
  std::vector<Said> said_;
  double makespan_ = 0;
};

constexpr auto kShares = std::to_array<double>({0.1, 0.5, 0.9});

// How often it was right, for each share of a run.
struct Tally {
  std::array<unsigned, kShares.size()> asked{}, silent{}, before{};
  std::array<std::vector<double>, kShares.size()> off{};  // of the makespan

  void add(const Run& run) {
    for (std::size_t i = 0; i < kShares.size(); ++i) {
      const Run::Said said = run.at(kShares[i]);
      ++asked[i];
      if (!said.left) {
        ++silent[i];
        continue;
      }
      const double end = said.elapsed + to_seconds(*said.left);
      if (run.makespan() <= end) ++before[i];
      off[i].push_back(std::abs(end - run.makespan()) / run.makespan());
    }
  }

  void print(std::string_view name) {
    fmt::print("{:<40}", name);
    for (std::size_t i = 0; i < kShares.size(); ++i) {
      const unsigned told = asked[i] - silent[i];
      std::sort(off[i].begin(), off[i].end());
      if (told == 0) {
        fmt::print("  {:>18}", "-");
      } else {
        fmt::print("  {:>4.0f} % {:>4.0f} % {:>4.0f} %", 100.0 * before[i] / told,
                   100.0 * off[i][off[i].size() / 2], 100.0 * silent[i] / asked[i]);
      }
    }
    fmt::print("\n");
  }
};

void measure(const Scenario& scenario, unsigned seeds) {
  Tally first;
  Tally second;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    Random random(seed);
    std::vector<sim::SimJob> jobs;
    for (const Job& job : scenario.jobs(random)) jobs.push_back(sim_job(jobs.size() + 1, job));
    policy::Estimator estimator;
    for (Tally* tally : {&first, &second}) {
      const sim::MachineConfig machine{
          .cores = scenario.cores,
          .line = Bytes{static_cast<std::uint64_t>(scenario.line_mib) << 20U}};
      sim::SimulatedExecutor executor(machine, jobs);
      Run run(scenario, jobs, estimator, executor);
      executor.run(run);
      tally->add(run);
    }
  }
  first.print(scenario.name);
  second.print("  again");
}

}  // namespace

int main(int argc, char** argv) {
  unsigned seeds = 200;
  if (argc > 1) {
    const std::string_view text = argv[1];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seeds);
    if (error != std::errc() || end != text.data() + text.size() || seeds == 0) {
      fmt::print(stderr, "eta_bench: found \"{}\", expected a number of seeds\n", text);
      return 2;
    }
  }
  fmt::print(
      "{} seeds each: true ends before the one told, how far that was off (median, of the "
      "whole run), runs of which nothing was told\n{:<40}",
      seeds, "");
  for (const double share : kShares) fmt::print("  {:>15.0f} % ", 100 * share);
  fmt::print("\n");
  for (const Scenario& scenario : kScenarios) measure(scenario, seeds);
}
