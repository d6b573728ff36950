#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/trace/timeline.h"
#include "base/units.h"
#include "kernel/counters/usage.h"
#include "store/runs/event_log.h"
#include "store/runs/recorded_job.h"
#include "store/runs/run_dir.h"

// A run as a trace: what viewers of traces draw, whatever their format.
namespace plimsoll::analysis {

// A named text or number that a viewer shows of a slice.
using TraceNotes = std::vector<std::pair<std::string, std::string>>;

// A stretch of time in a lane; of length zero: a moment.
struct TraceSlice {
  enum class Kind : std::uint8_t { stretch, moment } kind = Kind::stretch;
  Duration from{}, to{};  // since the run's start
  std::string name;
  std::string category;
  TraceNotes notes;
  std::vector<std::uint64_t> arrows_out, arrows_in;  // each number once out and once in
};

struct TraceLane {
  std::string name;
  std::vector<TraceSlice> slices;  // in order; stretches do not overlap
};

enum class TraceUnit : std::uint8_t { count, bytes, cores, percent };

// Holds from one point to the next.
struct TraceCounter {
  std::string name;
  TraceUnit unit{};
  std::vector<std::pair<Duration, double>> points;  // in order
};

struct Trace {
  std::string name;  // of the run
  std::vector<TraceLane> lanes;
  std::vector<TraceCounter> counters;
};

// Points of a counter; of more, the lowest and the highest of each stretch of time are kept.
inline constexpr std::size_t kTracePointsMax = 20'000;

// What the use of one job was at a moment.
struct TraceLook {
  Duration t{};  // since its last attempt's start
  std::optional<Bytes> used{};
  std::optional<Duration> cpu{};
};

// What a trace takes from the record of a job.
struct TracedJob {
  std::string id;
  std::string job_class;
  std::string command;  // one line; any bytes
  std::string outcome;
  std::vector<TraceLook> looks;  // in order
};
[[nodiscard]] TracedJob traced_job(const report::RecordedJob& job);

// What the record of a run has for a trace.
struct TracedRun {
  const report::RunEntry* entry = nullptr;
  const std::vector<report::RecordedEvent>* events = nullptr;
  std::vector<TracedJob> jobs;
  std::vector<counters::SystemSample> system;
};

// Lanes of attempts, in which a pause is a gap that begins with a moment telling its cause; the job
// that waited first; what concerned the whole run; and counters. Texts may hold any bytes.
[[nodiscard]] Trace trace_of(const TracedRun& run);

// For writers: the counters of a run.
[[nodiscard]] std::vector<TraceCounter> counters_of(const TracedRun& run, const Timeline& timeline);

}  // namespace plimsoll::analysis
