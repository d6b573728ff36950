// How long after memory crosses the line, and the mark an eighth below it, somebody has looked; and
// what watching costs while nothing happens. On real groups: root, and cgroups of this machine.
//
//   watch_bench [ROUNDS]
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "kernel/counters/memory_files.h"
#include "kernel/counters/system_sampler.h"
#include "kernel/monitor/watcher.h"
#include "support/ground.h"

namespace plimsoll::monitor {
namespace {

using namespace std::chrono_literals;
using cgroup::Controller;

constexpr Bytes kLine{192 << 20};
constexpr std::size_t kStep = 256 << 10;

// What the allocator tells: by its own count of bytes touched.
struct Crossings {
  std::atomic<std::int64_t> near_ns, line_ns;
};

std::int64_t now_ns() { return loop::now().time_since_epoch().count(); }

// Touches one and a half lines at this rate (0: at once), then sleeps.
[[noreturn]] void allocate(double rate, Crossings& crossings) {
  const std::size_t all = kLine.count * 3 / 2;
  auto* const memory = static_cast<char*>(
      ::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const std::int64_t began = now_ns();
  for (std::size_t done = 0; done < all; done += kStep) {
    std::memset(memory + done, 1, kStep);
    const std::size_t touched = done + kStep;
    if (crossings.near_ns == 0 && touched >= (kLine - near_margin(kLine)).count) {
      crossings.near_ns = now_ns();
    }
    if (crossings.line_ns == 0 && touched >= kLine.count) crossings.line_ns = now_ns();
    if (rate == 0) continue;
    const auto due = began + static_cast<std::int64_t>(static_cast<double>(touched) / rate * 1e9);
    std::this_thread::sleep_until(Instant(Duration(due)));
  }
  for (;;) ::pause();
}

struct Scene : WatcherHost {
  explicit Scene(const cgroup::Leaf& leaf)
      : pool(leaf),
        loop(*loop::Loop::create()),
        worker(loop),
        files(leaf),
        watcher({loop, worker, leaf}, *this) {
    watcher.start();
  }

  Reading look() override {
    counters::MemoryUsage usage;
    files.read(counters::Level::full, usage, buffer);
    const auto machine = system.sample(loop::now(), std::chrono::system_clock::now());
    const auto available = machine.meminfo.find("MemAvailable");
    reading = {
        .at = loop::now(), .bounds = {kLine, {}}, .used = usage.used, .charged = usage.current};
    if (available != machine.meminfo.end()) reading.available = available->second;
    return reading;
  }
  void on_memory_alarm(const Alarm& /*alarm*/) override {}
  void on_weakened(const Status& status) override { std::puts(status.health.c_str()); }
  void decide(Cause cause) override {
    const std::int64_t now = now_ns();
    if (near_seen == 0 && is_near(reading)) near_seen = now, near_cause = cause;
    if (line_seen == 0 && reading.used >= kLine) line_seen = now, line_cause = cause;
  }
  void run(Duration time) {
    for (const Instant end = loop::now() + time; loop::now() < end;) {
      std::ignore = loop.run_once(1ms);
    }
  }

  const cgroup::Leaf& pool;
  loop::Loop loop;
  loop::Worker worker;
  counters::MemoryFiles files;
  counters::SystemSampler system;
  std::string buffer;
  Reading reading;
  std::int64_t near_seen = 0, line_seen = 0;
  Cause near_cause{}, line_cause{};
  Watcher watcher;
};

struct Delays {
  std::vector<double> ms;
  unsigned by_event = 0;
  void add(std::int64_t crossed, std::int64_t seen, Cause cause) {
    if (crossed == 0 || seen == 0) return;
    ms.push_back(std::max(0.0, static_cast<double>(seen - crossed) / 1e6));
    if (cause == Cause::event) ++by_event;
  }
  void print(const char* what) {
    if (ms.empty()) return void(std::printf("  %-26s never seen\n", what));
    std::sort(ms.begin(), ms.end());
    const auto at = [&](double share) {
      return ms[static_cast<std::size_t>(share * static_cast<double>(ms.size() - 1))];
    };
    std::printf("  %-26s p50 %6.2f ms  p99 %6.2f ms  max %6.2f ms  %u of %zu by an event\n", what,
                at(0.5), at(0.99), ms.back(), by_event, ms.size());
  }
};

// Nobody is left when the pool has gone.
void clear(const testing::Ground& ground) {
  const auto cleared = [&] {
    return !testing::has_children() && ground.inner().remove_child("pool").has_value();
  };
  std::ignore = testing::eventually(cleared);
}

void one_round(testing::Ground& ground, double rate, Delays& near, Delays& line) {
  auto* const crossings = static_cast<Crossings*>(::mmap(
      nullptr, sizeof(Crossings), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  {
    const cgroup::Leaf pool = ground.leaf("pool");
    const auto* memory = pool.of(Controller::memory);
    if (memory->version() == cgroup::Version::v2) {
      std::ignore = memory->write("memory.high", std::to_string(kLine.count));
    }
    Scene scene(pool);
    scene.run(150ms);  // thresholds are set by then
    const int pid = ::fork();
    if (pid == 0) {
      if (!cgroup::move_process(pool, 0)) ::_exit(1);
      allocate(rate, *crossings);
    }
    const Instant end = loop::now() + 10s;
    while ((scene.line_seen == 0 || crossings->line_ns == 0) && loop::now() < end) scene.run(1ms);
    ::kill(pid, SIGKILL);
    near.add(crossings->near_ns, scene.near_seen, scene.near_cause);
    line.add(crossings->line_ns, scene.line_seen, scene.line_cause);
  }
  clear(ground);
  ::munmap(crossings, sizeof(Crossings));
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// A pool that holds so much, quietly.
void idle(testing::Ground& ground, const char* what, std::uint64_t mib) {
  {
    const cgroup::Leaf pool = ground.leaf("pool");
    Scene scene(pool);
    const auto hog = testing::start(pool, {"hog", std::to_string(mib)});
    std::ignore = testing::wait_ready(hog);
    scene.run(1s);
    const std::uint64_t samples = scene.watcher.samples();
    const double before = cpu_seconds();
    constexpr Duration kSpan = 5s;
    const Instant end = loop::now() + kSpan;
    while (loop::now() < end) std::ignore = scene.loop.run_once(end - loop::now());
    std::printf("  idle, %-20s %4.0f looks/s, %.2f %% of a core\n", what,
                static_cast<double>(scene.watcher.samples() - samples) / 5,
                (cpu_seconds() - before) / 5 * 100);
    ::kill(hog.pid, SIGKILL);
  }
  clear(ground);
}

int run(int rounds) {
  auto ground = testing::Ground::make({"Bench", true, cgroup::ControllerSet(Controller::memory)},
                                      "plimsoll-bench-watch");
  if (!ground) return std::printf("%s\n", ground.error().message().c_str()), 1;
  {
    const cgroup::Leaf pool = ground->leaf("pool");
    const Scene scene(pool);
    for (const Status& status : scene.watcher.status()) {
      std::printf("%s: %s (%s)\n", status.name.c_str(), status.why.c_str(), status.health.c_str());
    }
  }
  std::ignore = ground->inner().remove_child("pool");
  for (const double rate : {50e6, 400e6, 0.0}) {
    Delays near, line;
    for (int i = 0; i < rounds; ++i) one_round(*ground, rate, near, line);
    if (rate > 0) std::printf("%.0f MB/s, %d rounds:\n", rate / 1e6, rounds);
    if (rate == 0) std::printf("at once, %d rounds:\n", rounds);
    near.print("an eighth below, to a look");
    line.print("the line, to a look");
  }
  idle(*ground, "far from the line", 16);
  idle(*ground, "an eighth below it", 172);
  idle(*ground, "5 % below it", 182);
  return 0;
}

}  // namespace
}  // namespace plimsoll::monitor

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  return plimsoll::monitor::run(argc > 1 ? std::atoi(argv[1]) : 20);
}
