// What the estimator costs with 10,000 jobs of 200 classes known, 500 of them running.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "estimator/sizing.h"
#include "policy/estimator/estimator.h"

namespace plimsoll::policy {
namespace {

constexpr std::size_t kClasses = 200;
constexpr std::size_t kJobs = 10'000;
constexpr std::size_t kRunning = 500;

// Grows to its peak in a quarter of its time, then wobbles.
AttemptSummary attempt_summary(std::size_t job_class, std::size_t run) {
  const std::uint64_t peak = (100 + job_class * 10 + run % 7) << 20;
  const auto ran = std::chrono::seconds(60 + job_class + run % 11);
  std::vector<CurvePoint> course;
  for (std::uint64_t i = 0; i <= 100; ++i) {
    course.push_back({ran * i / 100, {i < 25 ? peak * i / 25 : peak - (i % 5) * peak / 50}});
  }
  return {.key = {"class-" + std::to_string(job_class), "tool"},
          .peak = {peak},
          .ran = ran,
          .cores = 1,
          .curve = thin(std::move(course))};
}

Estimator experienced() {
  Estimator estimator;
  for (std::size_t run = 0; run < kRunsMax; ++run) {
    for (std::size_t c = 0; c < kClasses; ++c) estimator.learn(attempt_summary(c, run));
  }
  return estimator;
}

Key key_of_job(std::size_t job) { return {"class-" + std::to_string(job % kClasses), "tool"}; }

void unstarted(benchmark::State& state) {
  const Estimator estimator = experienced();
  std::vector<Key> keys;
  for (std::size_t job = 0; job < kJobs; ++job) keys.push_back(key_of_job(job));
  std::size_t job = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(estimator.estimate(keys[job], {}));
    job = (job + 1) % kJobs;
  }
}
BENCHMARK(unstarted);

void running(benchmark::State& state) {
  const Estimator estimator = experienced();
  std::vector<Key> keys;
  std::vector<LiveProfile> tracks(kRunning);
  for (std::size_t job = 0; job < kRunning; ++job) {
    keys.push_back(key_of_job(job));
    const AttemptSummary past = attempt_summary(job % kClasses, job);
    const std::size_t until = job % (past.curve.size() - 1) + 1;
    for (std::size_t i = 0; i < until; ++i) {
      tracks[job].observe({.ran = past.curve[i].at, .used = past.curve[i].used});
    }
  }
  std::size_t job = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(estimator.estimate(keys[job], {}, tracks[job]));
    job = (job + 1) % kRunning;
  }
}
BENCHMARK(running);

void observe(benchmark::State& state) {
  LiveProfile live_profile;
  JobSample sample;
  for (auto _ : state) {
    sample.ran += std::chrono::milliseconds(100);
    sample.used = {100'000'000 + static_cast<std::uint64_t>(sample.ran.count()) % 1'000'000};
    live_profile.observe(sample);
    benchmark::DoNotOptimize(live_profile);
  }
}
BENCHMARK(observe);

void learn_and_ask(benchmark::State& state) {
  Estimator estimator = experienced();
  const AttemptSummary news = attempt_summary(7, 1);
  for (auto _ : state) {
    estimator.learn(news);
    benchmark::DoNotOptimize(estimator.estimate(news.key, {}));
  }
}
BENCHMARK(learn_and_ask);

void thin_a_course(benchmark::State& state) {
  std::vector<CurvePoint> course;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    course.push_back({std::chrono::seconds(i), {i * 7919 % 1'000'003}});
  }
  for (auto _ : state) benchmark::DoNotOptimize(thin(course));
}
BENCHMARK(thin_a_course);

void signature(benchmark::State& state) {
  const Command command = std::string(
      "/usr/bin/ccache g++-12 -O2 -DNDEBUG -Iinclude -std=c++20 -c src/a.cc -o build/src/a.cc.o");
  for (auto _ : state) benchmark::DoNotOptimize(key_of(command));
}
BENCHMARK(signature);

}  // namespace
}  // namespace plimsoll::policy

BENCHMARK_MAIN();
