#include "daemon/metrics/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/metrics/snapshot.h"
#include "report/plain.h"

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

void append_disks(Sheet& sheet, const std::vector<policy::DiskStatus>& disks) {
  if (disks.empty()) return;
  const auto labels = [](const policy::DiskStatus& disk) {
    return Labels{{"path", report::printable(disk.floor.path)}};
  };
  sheet.family(MetricType::Gauge, "plimsoll_disk_free_bytes",
               "Free space of the file system that holds this path, as users have it.");
  for (const policy::DiskStatus& disk : disks) {
    if (disk.free) sheet.value(labels(disk), to_double(*disk.free));
  }
  sheet.family(MetricType::Gauge, "plimsoll_disk_floor_bytes",
               "Space that is to stay free on the file system that holds this path.");
  for (const policy::DiskStatus& disk : disks) {
    sheet.value(labels(disk), to_double(disk.floor.floor));
  }
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

// What follows from the snapshot alone, as families behind those that are there. Pure.
void append_gauges(std::vector<MetricFamily>& families, const Snapshot& snapshot,
                   std::string_view version) {
  Sheet sheet(families);
  sheet.family(MetricType::Gauge, "plimsoll_build_info", "1, with the version as a label.");
  sheet.value({{"version", std::string(version)}}, 1);
  append_jobs(sheet, snapshot);
  append_memory(sheet, snapshot);
  append_disks(sheet, snapshot.scheduler.disks);
  append_loop(sheet, snapshot);
  if (snapshot.others) append_leases(sheet, *snapshot.others);
  append_machine(sheet, snapshot);
}

using prometheus::Counter;
using prometheus::Family;
using prometheus::Histogram;
using prometheus::Registry;

constexpr double kMiB = 1 << 20;
constexpr double kGiB = 1 << 30;

// From a shell's to a large machine's: a factor of 4, and of 2 where jobs mostly are.
const Histogram::BucketBoundaries kPeakBounds = {
    4 * kMiB, 16 * kMiB, 64 * kMiB, 128 * kMiB, 256 * kMiB, 512 * kMiB, kGiB,
    2 * kGiB, 4 * kGiB,  8 * kGiB,  16 * kGiB,  32 * kGiB,  64 * kGiB,  256 * kGiB};
const Histogram::BucketBoundaries kWallBounds = {0.01, 0.1, 0.5, 1,   2,    5,    10,
                                                 30,   60,  300, 600, 1800, 3600, 4 * 3600.0};
// The target is a p99 of 20 ms (docs/watch.md: a look is due within 10 ms near the line).
const Histogram::BucketBoundaries kLagBounds = {0.0001, 0.001, 0.002, 0.005, 0.01, 0.02,
                                                0.05,   0.1,   0.5,   1,     5};

}  // namespace

class Metrics::State {
 public:
  explicit State(std::string_view version)
      : version_(version),
        ended_(counters("plimsoll_jobs_ended_total",
                        "Jobs that have ended and will not run again, by outcome.")),
        decisions_(counters("plimsoll_decisions_total",
                            "Decisions of the governor that were carried out, by kind.")),
        holds_(counters(
            "plimsoll_holds_total",
            "Changes of the reason for which the first waiting job is held, by the new reason.")),
        ooms_(counters("plimsoll_oom_kills_total",
                       "Attempts in which the kernel's OOM killer killed processes, by the limit "
                       "that was reached.")),
        alarms_(counters("plimsoll_alarms_total", "Alarms of the memory monitors.")),
        peaks_(histograms("plimsoll_job_memory_peak_bytes",
                          "Peak memory of jobs that ended, by class.")),
        walls_(histograms("plimsoll_job_wall_seconds",
                          "Time from start to end of jobs that ended, by class.")),
        lag_(histograms("plimsoll_loop_lag_seconds",
                        "Delay with which timers of the daemon's loop expired.")
                 .Add({}, kLagBounds)) {
    // A series that is there from the start can be told from one that is missing.
    for (const auto kind :
         {policy::EventKind::admitted, policy::EventKind::frozen, policy::EventKind::thawed,
          policy::EventKind::reclaimed, policy::EventKind::evicted, policy::EventKind::requeued,
          policy::EventKind::failed}) {
      decisions_.Add({{"kind", std::string(name_of(kind))}});
    }
    alarms_.Add({});
  }

  void event(const policy::Event& event) {
    switch (event.kind) {
      case policy::EventKind::admitted:
      case policy::EventKind::frozen:
      case policy::EventKind::thawed:
      case policy::EventKind::reclaimed:
      case policy::EventKind::evicted:
      case policy::EventKind::requeued:
      case policy::EventKind::failed:
        decisions_.Add({{"kind", std::string(name_of(event.kind))}}).Increment();
        break;
      case policy::EventKind::held:
        if (event.hold) {
          holds_.Add({{"reason", std::string(policy::name_of(*event.hold))}}).Increment();
        }
        break;
      case policy::EventKind::alarm: alarms_.Add({}).Increment(); break;
      case policy::EventKind::queued:
      case policy::EventKind::started:
      case policy::EventKind::ended:
      case policy::EventKind::line: break;
    }
  }

  void ended(const report::JobReport& report) {
    ended_.Add({{"outcome", std::string(policy::name_of(report.outcome))}}).Increment();
    for (const report::AttemptReport& attempt : report.attempts) {
      if (!attempt.oom) continue;
      ooms_.Add({{"limit", std::string(policy::name_of(attempt.oom->level))}}).Increment();
    }
    if (report.attempts.empty()) return;
    const std::string job_class = class_label(report.job_class);
    const report::AttemptReport& last = report.attempts.back();
    if (last.peak) peaks_.Add({{"class", job_class}}, kPeakBounds).Observe(to_double(*last.peak));
    if (last.wall) walls_.Add({{"class", job_class}}, kWallBounds).Observe(to_seconds(*last.wall));
  }

  void lag(Duration late) { lag_.Observe(to_seconds(late)); }

  [[nodiscard]] std::vector<prometheus::MetricFamily> collect(const Snapshot& snapshot) const {
    std::vector<prometheus::MetricFamily> families = registry_.Collect();
    append_gauges(families, snapshot, version_);
    return families;
  }

 private:
  Family<Counter>& counters(const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry_);
  }
  Family<Histogram>& histograms(const char* name, const char* help) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry_);
  }

  std::string class_label(const std::string& name) {
    std::string label = report::printable(name);
    if (classes_.contains(label)) return label;
    if (classes_.size() >= kClassesMax) return std::string(kOtherClasses);
    return *classes_.insert(std::move(label)).first;
  }

  std::string version_;
  Registry registry_;
  std::set<std::string> classes_;
  Family<Counter>&ended_, &decisions_, &holds_, &ooms_, &alarms_;
  Family<Histogram>&peaks_, &walls_;
  Histogram& lag_;
};

Metrics::Metrics(std::string_view version) : state_(std::make_unique<State>(version)) {}
Metrics::~Metrics() = default;

void Metrics::event(const policy::Event& event) { state_->event(event); }
void Metrics::ended(const report::JobReport& report) { state_->ended(report); }
void Metrics::lag(Duration late) { state_->lag(late); }

std::vector<prometheus::MetricFamily> Metrics::collect(const Snapshot& snapshot) const {
  return state_->collect(snapshot);
}

}  // namespace plimsoll::metrics
