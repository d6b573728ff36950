#include "supervisor/run/run_summary.h"

#include <filesystem>
#include <system_error>

#include "kernel/counters/machine_span.h"
#include "kernel/counters/parse_pressure.h"
#include "supervisor/output/results.h"
#include "supervisor/reporting.h"

namespace plimsoll::supervisor {

namespace fs = std::filesystem;

std::uint64_t oom_kills_of(const counters::MemoryEvents& events) {
  const std::uint64_t groups = events.oom_group_kill.value_or(0);
  return groups > 0 ? groups : events.oom_kill.value_or(0);
}

report::OutputPaths output_paths_of(const policy::JobSpec& job,
                                    const std::optional<std::string>& results) {
  const auto path = [&](const std::string& own, const char* name) -> std::string {
    if (own.empty() && !results) return {};
    const fs::path kept =
        own.empty() ? fs::path(*results) / output::result_name(job.name) / name : fs::path(own);
    std::error_code failed;
    const fs::path found = fs::absolute(kept, failed);
    return (failed ? kept : found).string();
  };
  return {.out = path(job.stdout_path, "stdout"), .err = path(job.stderr_path, "stderr")};
}

void add_figures(report::RunSummary& summary, HostScheduler& jobs) {
  const policy::Counts& counts = jobs.scheduler().counts();
  summary.holds = counts.holds;
  summary.pauses = counts.pauses;
  summary.evictions = counts.evictions;
  if (counts.lost_cpu > Duration{}) summary.lost_cpu = counts.lost_cpu;
  summary.used_peak = jobs.executor().used_peak();
  for (const monitor::Status& status : jobs.executor().monitors()) {
    summary.monitors.push_back(report_of(status));
  }
  summary.calibration = jobs.scheduler().calibration();
  summary.system_samples = jobs.system().finish().points();
  counters::MachineSpan span(summary.system_samples.front());
  for (const counters::SystemSample& sample : summary.system_samples) span.observe(sample);
  summary.machine = span.usage();
  const Duration sampled = summary.system_samples.back().at - summary.system_samples.front().at;
  if (const auto others =
          counters::use_of_others(span.usage(), summary.cpu_usage.value_or(Duration{}), sampled)) {
    summary.cores_of_others = others->cores;
    summary.cores_of_machine = others->of;
  }
}

void add_pool_limits(report::RunSummary& summary, const PoolLimits& wall,
                     const cgroup::Group& pool) {
  if (!wall.limits()) {
    summary.unavailable.emplace("wall", wall.why_not());
    return;
  }
  summary.wall = report::PoolLimitsReport{.high = wall.limits()->high,
                                          .max = wall.limits()->max,
                                          .stalls = wall.stalls().count,
                                          .stalled = wall.stalls().time,
                                          .pressure = {}};
  const cgroup::Directory* v2 = pool.v2();
  if (v2 == nullptr) return;
  if (const auto text = v2->read("memory.pressure")) {
    const counters::Pressure pressure = counters::parse_pressure(*text);
    if (pressure.some) summary.wall->pressure.some = pressure.some->total;
    if (pressure.full) summary.wall->pressure.full = pressure.full->total;
  }
}

}  // namespace plimsoll::supervisor
