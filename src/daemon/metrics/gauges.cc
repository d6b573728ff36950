#include "daemon/metrics/gauges.h"

#include <string>
#include <utility>

namespace plimsoll::metrics {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

// Adds families of one value each, or of several with labels.
class Sheet {
 public:
  explicit Sheet(std::vector<MetricFamily>& families) : families_(families) {}

  void family(MetricType type, const char* name, const char* help) {
    families_.push_back({.name = name, .help = help, .type = type, .metric = {}});
  }

  void value(Labels labels, double value) {
    MetricFamily& family = families_.back();
    ClientMetric metric;
    metric.label = std::move(labels);
    (family.type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
    family.metric.push_back(std::move(metric));
  }

  void gauge(const char* name, const char* help, double single) {
    family(MetricType::Gauge, name, help);
    value({}, single);
  }

  void counter(const char* name, const char* help, double single) {
    family(MetricType::Counter, name, help);
    value({}, single);
  }

 private:
  std::vector<MetricFamily>& families_;
};

double count(std::uint64_t number) { return static_cast<double>(number); }

void append_jobs(Sheet& sheet, const Snapshot& seen) {
  const policy::SchedulerStatus& now = seen.scheduler;
  sheet.family(MetricType::Gauge, "plimsoll_jobs", "Jobs that have not ended, by state.");
  sheet.value({{"state", "running"}}, count(now.running));
  sheet.value({{"state", "paused"}}, count(now.frozen));
  sheet.value({{"state", "waiting"}}, count(now.waiting));
  sheet.gauge("plimsoll_jobs_max", "Jobs that may run at once.", now.jobs_max);
  sheet.gauge("plimsoll_guests",
              "External jobs: jobs that have not ended and that their clients run themselves.",
              count(seen.external_jobs));
  sheet.gauge("plimsoll_connections", "Open streams of clients.", count(seen.connections));
  sheet.gauge("plimsoll_draining", "1 while no more jobs are admitted.", seen.draining ? 1 : 0);
}

void append_memory(Sheet& sheet, const Snapshot& seen) {
  const policy::SchedulerStatus& now = seen.scheduler;
  sheet.gauge("plimsoll_line_bytes", "Memory that all jobs together may use.", to_double(now.line));
  sheet.gauge("plimsoll_used_bytes", "Memory that all jobs together use and that can't be dropped.",
              to_double(now.used));
  sheet.gauge("plimsoll_used_peak_bytes", "The highest value of plimsoll_used_bytes so far.",
              to_double(now.counts.used_peak));
  sheet.gauge("plimsoll_cores", "Cores that all jobs together may use.", now.cores);
  double cores_used = 0;
  for (const policy::JobStatus& job : now.jobs) cores_used += job.cores.value_or(0);
  sheet.gauge("plimsoll_cores_used", "Cores that all jobs together have used recently.",
              cores_used);
  sheet.counter("plimsoll_lost_cpu_seconds_total", "CPU time of attempts whose work was lost.",
                to_seconds(now.counts.lost_cpu));
  sheet.counter("plimsoll_looks_total", "Samples of the pool and the machine.", count(seen.looks));
  sheet.counter("plimsoll_records_dropped_total",
                "Events and reports that are in no record because the disk was too slow.",
                count(seen.records_dropped));
  sheet.counter("plimsoll_samples_dropped_total",
                "Samples of jobs that were not taken because the loop was late.",
                count(seen.samples_dropped));
}

void append_loop(Sheet& sheet, const Snapshot& seen) {
  sheet.gauge("plimsoll_loop_turn_max_seconds", "Longest turn of the daemon's loop.",
              to_seconds(seen.longest_turn));
}

void append_leases(Sheet& sheet, const supervisor::Others& others) {
  sheet.gauge("plimsoll_lease_runs", "Other runs that share the line.", count(others.runs));
  sheet.gauge("plimsoll_lease_jobs", "Jobs of these runs that are running or paused.",
              count(others.jobs));
  sheet.gauge("plimsoll_lease_used_bytes", "Memory that these jobs use and that can't be dropped.",
              to_double(others.used));
  sheet.gauge("plimsoll_lease_claimed_bytes", "Memory that these jobs are expected to reach.",
              to_double(others.claimed));
  sheet.gauge("plimsoll_lease_cores_used", "Cores that these jobs have used recently.",
              others.cores_used);
}

void append_stalls(Sheet& sheet, const char* scope, const char* resource,
                   const std::optional<counters::Pressure>& pressure) {
  if (!pressure) return;
  const auto line = [&](const char* share, const std::optional<counters::PressureLine>& seen) {
    if (!seen) return;
    sheet.value({{"scope", scope}, {"resource", resource}, {"share", share}},
                to_seconds(seen->total));
  };
  line("some", pressure->some);
  line("full", pressure->full);
}

void append_machine(Sheet& sheet, const Snapshot& seen) {
  sheet.family(MetricType::Counter, "plimsoll_stall_seconds_total",
               "Time in which some tasks, or all, were stalled on a resource (PSI).");
  append_stalls(sheet, "pool", "memory", seen.pool_memory);
  if (seen.machine) {
    append_stalls(sheet, "machine", "cpu", seen.machine->cpu_pressure);
    append_stalls(sheet, "machine", "memory", seen.machine->memory_pressure);
    append_stalls(sheet, "machine", "io", seen.machine->io_pressure);
    const auto available = seen.machine->meminfo.find("MemAvailable");
    if (available != seen.machine->meminfo.end()) {
      sheet.gauge("plimsoll_machine_available_bytes", "MemAvailable of the machine.",
                  to_double(available->second));
    }
  }
  sheet.family(MetricType::Gauge, "plimsoll_monitor_up", "1 while this memory monitor works.");
  for (const monitor::Status& monitor : seen.monitors) {
    sheet.value({{"monitor", monitor.name}}, monitor.works ? 1 : 0);
  }
}

}  // namespace

void append_gauges(std::vector<MetricFamily>& families, const Snapshot& snapshot,
                   std::string_view version) {
  Sheet sheet(families);
  sheet.family(MetricType::Gauge, "plimsoll_build_info", "1, with the version as a label.");
  sheet.value({{"version", std::string(version)}}, 1);
  append_jobs(sheet, snapshot);
  append_memory(sheet, snapshot);
  append_loop(sheet, snapshot);
  if (snapshot.others) append_leases(sheet, *snapshot.others);
  append_machine(sheet, snapshot);
}

}  // namespace plimsoll::metrics
