// What the governor's decisions cost: one observation, one whole round, by jobs known.
#include <benchmark/benchmark.h>

#include <unordered_map>
#include <vector>

#include "policy/governor/governor.h"

namespace plimsoll::policy {
namespace {

Bytes mib(std::uint64_t count) { return {count << 20}; }

Estimate estimate_of(double bytes, double seconds) {
  Estimate estimate;
  estimate.peak = {bytes, bytes / 10};
  for (std::size_t i = 0; i < kHorizons.size(); ++i) {
    estimate.ahead[i] = estimate.peak;
    estimate.survival[i] = 1;
  }
  estimate.cores = {1, 0.2};
  estimate.remaining = {seconds, seconds / 4};
  estimate.basis = Basis::exact;
  estimate.attempts_known = 20;
  return estimate;
}

// So many jobs of 20 kinds are known; as many run as fit, at most 500.
struct Machine {
  explicit Machine(std::size_t known)
      : governor({.line = mib(256 * 1024), .cores = 400, .jobs_max = 500}) {
    for (std::uint32_t kind = 0; kind < 20; ++kind) {
      governor.expect(Kind{kind}, estimate_of(3e8 + 1e7 * kind, 100.0 + kind));
    }
    for (std::uint64_t job = 1; job <= known; ++job) {
      enter(JobId{job}, Kind{static_cast<std::uint32_t>(job % 20)});
    }
    rule();
  }

  void enter(JobId job, Kind kind) {
    Ready& ready = jobs[job];
    ready.job = job;
    ready.kind = kind;
    governor.enter(ready, now);
  }
  void rule() {
    for (const Decision& decision : governor.rule(now, 1000)) {
      const auto* admit = std::get_if<Admit>(&decision.action);
      if (admit != nullptr) running.push_back(&jobs.at(admit->job));
    }
  }

  void observe(std::size_t index) {
    now += std::chrono::microseconds(100);
    governor.observe(*running[index],
                     {.ran = now.time_since_epoch(),
                      .used = mib(290 + index % 7),
                      .peak = mib(297),
                      .cpu = now.time_since_epoch()},
                     now);
  }

  Governor governor;
  Instant now{};
  std::unordered_map<JobId, Ready> jobs;
  std::vector<Ready*> running;
};

// What a look at a job costs when nothing presses, with the question whether something does.
void observation(benchmark::State& state) {
  Machine machine(static_cast<std::size_t>(state.range(0)));
  std::size_t next = 0;
  for (auto _ : state) {
    machine.observe(next);
    next = (next + 1) % machine.running.size();
    benchmark::DoNotOptimize(machine.governor.rule(machine.now, 0));
  }
  state.counters["running"] = static_cast<double>(machine.running.size());
}
BENCHMARK(observation)->Arg(100)->Arg(1'000)->Arg(10'000);

// A job ends and another takes its place.
void turnover(benchmark::State& state) {
  Machine machine(static_cast<std::size_t>(state.range(0)));
  std::uint64_t fresh = 1'000'000;
  const AttemptEnd end{.outcome = Outcome::exited, .exit_code = 0};
  for (auto _ : state) {
    machine.now += std::chrono::milliseconds(1);
    Ready& oldest = *machine.running.front();
    machine.governor.leave(oldest, end, machine.now);
    machine.jobs.erase(oldest.job);
    machine.enter(JobId{++fresh}, Kind{3});
    machine.running.erase(machine.running.begin());
    machine.rule();
  }
  state.counters["running"] = static_cast<double>(machine.running.size());
}
BENCHMARK(turnover)->Arg(100)->Arg(1'000)->Arg(10'000);

}  // namespace
}  // namespace plimsoll::policy

BENCHMARK_MAIN();
