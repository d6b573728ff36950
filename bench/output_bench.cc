// What collecting costs: an attempt that writes nothing, one that writes a line, and a flood,
// beside a plain copy of the same bytes from pipe to /dev/null as cat(1) makes it. CPU time is that
// of all threads.
#include <benchmark/benchmark.h>
#include <fcntl.h>

#include <array>
#include <string>
#include <thread>

#include "base/check.h"
#include "base/loop/loop.h"
#include "supervisor/output/collector.h"
#include "supervisor/output/disk.h"

namespace plimsoll::output {
namespace {

constexpr std::size_t kChunkBytes = 64 << 10;
constexpr std::size_t kRunning = 64;
constexpr std::size_t kFloodBytes = 256 << 20;

struct Bench {
  explicit Bench(Order order)
      : null(::open("/dev/null", O_WRONLY | O_CLOEXEC)), loop(std::move(*loop::Loop::create())) {
    auto started = Collector::start(
        loop,
        {.order = order, .out = null.get(), .err = null.get(), .spool_dir = default_spool_dir()},
        {.received = [this](const Ended&) { --behind; }, .drained = [this] { drained = true; }});
    PLIMSOLL_CHECK(started);
    collector = std::move(*started);
  }
  Opened open() {
    auto opened = collector->open({.job = JobId{++jobs}});
    PLIMSOLL_CHECK(opened);
    return std::move(*opened);
  }
  void drain() {
    drained = false;
    collector->drain();
    while (!drained) PLIMSOLL_CHECK(loop.run_once(Duration(-1)));
  }

  UniqueFd null;
  loop::Loop loop;
  std::uint64_t jobs = 0;
  std::size_t behind = 0;  // attempts that are finished and not yet taken in
  bool drained = false;
  std::unique_ptr<Collector> collector;
};

void write_whole(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    PLIMSOLL_CHECK(wrote > 0);
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

void attempt(benchmark::State& state, std::string_view text) {
  Bench bench(Order::group);
  for (auto _ : state) {
    Opened job = bench.open();
    if (!text.empty()) write_whole(job.out.get(), text);
    job.out = UniqueFd();
    job.err = UniqueFd();
    if (!job.capture.finish(Disposition::keep)) ++bench.behind;
    // As many as a machine may have running: their pipes are descriptors.
    while (bench.behind >= kRunning) PLIMSOLL_CHECK(bench.loop.run_once(Duration(-1)));
  }
  bench.drain();
}

void silent_attempt(benchmark::State& state) { attempt(state, {}); }
void attempt_of_one_line(benchmark::State& state) { attempt(state, "a line of text\n"); }
BENCHMARK(silent_attempt)->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK(attempt_of_one_line)->MeasureProcessCPUTime()->UseRealTime();

void write_flood(int fd) {
  std::string chunk;
  while (chunk.size() < kChunkBytes)
    chunk += "a line of text as it may stand in the log of a build\n";
  for (std::size_t done = 0; done < kFloodBytes; done += chunk.size()) write_whole(fd, chunk);
}

void flood(benchmark::State& state, Order order) {
  Bench bench(order);
  for (auto _ : state) {
    Opened job = bench.open();
    write_flood(job.out.get());
    job.out = UniqueFd();
    job.err = UniqueFd();
    if (!job.capture.finish(Disposition::keep)) ++bench.behind;
    bench.drain();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(kFloodBytes) * state.iterations());
}
BENCHMARK_CAPTURE(flood, group, Order::group)->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK_CAPTURE(flood, line, Order::line)->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK_CAPTURE(flood, ordered, Order::ordered)->MeasureProcessCPUTime()->UseRealTime();

void copy_as_cat_does(benchmark::State& state) {
  const UniqueFd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  for (auto _ : state) {
    int ends[2];
    PLIMSOLL_CHECK(::pipe2(ends, O_CLOEXEC) == 0);
    const UniqueFd read(ends[0]);
    UniqueFd write(ends[1]);
    std::thread copier([&] {
      std::array<char, 128 << 10> buffer;
      ssize_t got = 0;
      while ((got = ::read(read.get(), buffer.data(), buffer.size())) > 0) {
        write_whole(null.get(), std::string_view(buffer.data(), static_cast<std::size_t>(got)));
      }
    });
    write_flood(write.get());
    write = UniqueFd();
    copier.join();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(kFloodBytes) * state.iterations());
}
BENCHMARK(copy_as_cat_does)->MeasureProcessCPUTime()->UseRealTime();

}  // namespace
}  // namespace plimsoll::output

BENCHMARK_MAIN();
