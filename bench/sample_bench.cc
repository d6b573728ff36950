// What measuring costs: one look at a group, opening and closing its files, one look at the
// machine, and the start of network counting. The group is a hybrid host's, with a process in it.
// A look: CPU, memory, processes, and three pressure files, which are read each time here.
#include <benchmark/benchmark.h>

#include "base/check.h"
#include "kernel/counters/group_files.h"
#include "kernel/counters/job_sampler.h"
#include "kernel/counters/network.h"
#include "kernel/counters/system_sampler.h"
#include "support/ground.h"

namespace plimsoll::counters {
namespace {

using cgroup::Controller;
using cgroup::ControllerSet;

const testing::Way kHybrid{.name = "hybrid",
                           .with_v2 = true,
                           .controllers = ControllerSet(Controller::cpu, Controller::io,
                                                        Controller::memory, Controller::pids)};

// A group in which a process holds 64 MiB.
struct Busy {
  Busy() {
    auto made = testing::Ground::make(kHybrid, "plimsoll-test-sample-bench");
    PLIMSOLL_CHECK(made);
    ground.emplace(std::move(*made));
    leaf.emplace(ground->leaf("job"));
    PLIMSOLL_CHECK(testing::wait_ready(testing::start(*leaf, {"hog", "64"})));
  }
  std::optional<testing::Ground> ground;
  std::optional<cgroup::Leaf> leaf;
};

// Time in steps of what a pressure file asks for, so that none is answered from the last reading;
// or of what a group at rest asks for, so that it is read whole.
struct Clock {
  Duration step = kPressureIntervalMin;
  Instant now{};
  Instant next() { return now += step; }
};

void look(benchmark::State& state, Level level, Duration step) {
  const Busy busy;
  GroupFiles files(*busy.leaf);
  Clock clock{step};
  for (auto _ : state) {
    files.read(level, clock.next());
    benchmark::DoNotOptimize(files.latest(level));
  }
}
BENCHMARK_CAPTURE(look, cheap, Level::cheap, kPressureIntervalMin);
BENCHMARK_CAPTURE(look, full, Level::full, kRestMax);
BENCHMARK_CAPTURE(look, at_rest, Level::full, kPressureIntervalMin);

// As the record does it: kept in the bounded series too, memory.stat when it matters.
void sample(benchmark::State& state, Level level, Duration step) {
  const Busy busy;
  Network network("not counted here");
  Clock clock{step};
  JobSampler sampler(*busy.leaf, clock.now, network);
  for (auto _ : state) benchmark::DoNotOptimize(sampler.sample(clock.next(), WallTime(), level));
}
BENCHMARK_CAPTURE(sample, cheap, Level::cheap, kPressureIntervalMin);
BENCHMARK_CAPTURE(sample, full, Level::full, kRestMax);
BENCHMARK_CAPTURE(sample, at_rest, Level::full, kPressureIntervalMin);

// All that a command of a millisecond pays.
void open_finish_close(benchmark::State& state) {
  const Busy busy;
  Network network = Network::attach(*busy.ground->inner().v2(), 2);
  for (auto _ : state) {
    JobSampler sampler(*busy.leaf, Instant(), network);
    benchmark::DoNotOptimize(sampler.finish(Instant(), WallTime()));
  }
}
BENCHMARK(open_finish_close);

void machine(benchmark::State& state) {
  SystemSampler sampler;
  Clock clock;
  for (auto _ : state) benchmark::DoNotOptimize(sampler.sample(clock.next(), WallTime()));
}
BENCHMARK(machine);

void attach_network(benchmark::State& state) {
  const Busy busy;
  for (auto _ : state) {
    const Network network = Network::attach(*busy.ground->inner().v2(), 2);
    PLIMSOLL_CHECK(network.why_not().empty());
  }
}
BENCHMARK(attach_network);

}  // namespace
}  // namespace plimsoll::counters

BENCHMARK_MAIN();
