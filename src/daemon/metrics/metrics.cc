#include "daemon/metrics/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <set>

#include "daemon/metrics/gauges.h"
#include "report/plain.h"

namespace plimsoll::metrics {
namespace {

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
