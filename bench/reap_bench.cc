// Time from the beginning of reaping to an empty group, and until nothing of it is left, over many
// trees of processes. Usage: reap_bench [PROCESSES [ROUNDS [WAY]]]; WAY is a name as printed.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/loop/loop.h"
#include "base/loop/worker.h"
#include "base/text.h"
#include "kernel/reap/reaper.h"
#include "support/ground.h"

namespace plimsoll {
namespace {

using cgroup::Controller;
using cgroup::ControllerSet;
using testing::Ground;
using testing::Way;

const Way kWays[] = {
    {"hybrid", true, ControllerSet(Controller::cpu, Controller::memory, Controller::pids)},
    {"v1", false,
     ControllerSet(Controller::cpu, Controller::memory, Controller::pids, Controller::freezer)},
    {"v1-without-pids", false, ControllerSet(Controller::freezer)},
    {"v2-signals", true, ControllerSet(), cgroup::KillWay::signals},
};

struct Figures {
  std::vector<Duration> until_empty, until_gone, longest_turn;
  std::size_t left = 0;
};

double quantile_ms(std::vector<Duration> values, double q) {
  std::sort(values.begin(), values.end());
  const auto last = static_cast<double>(values.size() - 1);
  return std::chrono::duration<double, std::milli>(values[static_cast<std::size_t>(q * last + 0.5)])
      .count();
}

void reap_once(Ground& ground, const Way& way, const std::vector<std::string>& command,
               Figures& figures) {
  cgroup::Leaf leaf = ground.leaf("job");
  const testing::Started started = testing::start(leaf, command);
  PLIMSOLL_CHECK(testing::wait_ready(started));

  auto loop = loop::Loop::create();
  PLIMSOLL_CHECK(loop);
  loop::Worker worker(*loop);
  std::optional<reap::Reaped> gone;
  reap::Reaper reaper(*loop, worker, std::make_shared<cgroup::Group>(std::move(leaf)),
                      {.left_behind = reap::LeftBehind::list, .way = way.kill},
                      {.empty = {}, .stuck = {}, .gone = [&](const reap::Reaped& r) { gone = r; }});
  Duration longest{};
  Instant before = loop::now();
  reaper.start();
  for (longest = loop::now() - before; !gone;) {
    // A turn that waits for nothing is what the reaper keeps the supervisor's thread busy for.
    before = loop::now();
    PLIMSOLL_CHECK(loop->run_once(Duration::zero()));
    longest = std::max(longest, loop::now() - before);
    PLIMSOLL_CHECK(gone || loop->run_once(std::chrono::microseconds(100)));
  }
  figures.until_empty.push_back(gone->until_empty);
  figures.until_gone.push_back(gone->until_gone);
  figures.longest_turn.push_back(longest);
  figures.left += ground.left_of("job").size();
  if (!testing::eventually([] { return !testing::has_children(); })) ++figures.left;
}

void measure(const Way& way, const std::string& kind, const std::string& processes, int rounds) {
  auto ground = Ground::make(way, "plimsoll-bench-reap");
  if (!ground) {
    std::printf("%-16s %-6s skipped: %s\n", way.name.c_str(), kind.c_str(),
                ground.error().message().c_str());
    return;
  }
  Figures figures;
  for (int i = 0; i < rounds; ++i) {
    reap_once(*ground, way, {"forkbomb", processes, kind}, figures);
  }
  std::printf("%-16s %-6s %8.1f %8.1f %8.1f %8.1f %8.1f %5zu\n", way.name.c_str(), kind.c_str(),
              quantile_ms(figures.until_empty, 0.5), quantile_ms(figures.until_empty, 0.99),
              quantile_ms(figures.until_gone, 0.5), quantile_ms(figures.until_gone, 0.99),
              quantile_ms(figures.longest_turn, 0.99), figures.left);
  std::fflush(stdout);
}

}  // namespace
}  // namespace plimsoll

int main(int argc, char** argv) {
  const std::string processes = argc > 1 ? argv[1] : "1000";
  const int rounds = argc > 2 ? static_cast<int>(plimsoll::to_u64(argv[2]).value_or(1)) : 50;
  const std::string only = argc > 3 ? argv[3] : "";
  std::printf("%s processes, %d rounds; milliseconds\n", processes.c_str(), rounds);
  std::printf("%-16s %-6s %8s %8s %8s %8s %8s %5s\n", "way", "kind", "empty50", "empty99", "gone50",
              "gone99", "turn99", "left");
  for (const plimsoll::testing::Way& way : plimsoll::kWays) {
    if (!only.empty() && way.name != only) continue;
    for (const char* kind : {"sleep", "churn"}) plimsoll::measure(way, kind, processes, rounds);
  }
  return 0;
}
