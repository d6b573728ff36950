#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "store/runs/event_log.h"
#include "store/runs/run_dir.h"

// What a page shows of a recorded run, read from its directory. Times count from the run's start.
// What was not recorded is absent.
namespace plimsoll::page {

// A sample of a job's last attempt.
struct CurvePoint {
  Duration t{};  // since the attempt's start
  std::optional<Bytes> used{};
  std::optional<Duration> cpu{};  // in all, since the attempt's start
};

struct Attempt {
  std::string outcome{};  // empty: it has not ended
  Duration start{};
  std::optional<Duration> wall{}, cpu{};
  std::optional<Bytes> peak{};
};

struct Job {
  std::string id{};
  std::optional<std::uint64_t> number{};  // in the order of input
  std::string job_class{};   // the one given, or derived from the command; empty: without a report
  std::string command{};     // as one line; any bytes
  std::string out{}, err{};  // the files that its output is in; empty: in none that is known
  std::string outcome{};     // empty: it has not ended
  std::optional<std::int64_t> exit_code{};
  std::string signal{};
  std::string reason{};
  std::optional<Duration> held{}, paused{};
  std::optional<Bytes> limit{};     // its own
  std::vector<Attempt> attempts{};  // in order
  std::vector<CurvePoint> curve{};  // of the last attempt, in order
};

struct Host {
  std::string name{}, kernel{};
  std::string hierarchy{};  // how groups are made: v2, hybrid, v1, process
  std::optional<std::uint64_t> cpus{};
  std::optional<Bytes> memory{};
};

// A reading of the whole machine. Counters begin anywhere: differences count.
struct SystemPoint {
  Duration t{};
  std::optional<Duration> busy{}, idle{};  // CPU time, summed over all CPUs
  std::optional<Duration> cpu_stall{}, memory_stall{}, io_stall{};  // some task was stalled
};

struct Record {
  report::RunEntry entry{};
  std::optional<Host> host{};                   // as the first report has it
  std::vector<report::RecordedEvent> events{};  // in order of time
  std::vector<Job> jobs{};                      // in the order of input
  std::vector<SystemPoint> system{};            // in order of time
  std::optional<double> cores_of_others{}, cores_of_machine{};
  std::optional<std::uint64_t> oom_kills{};
  std::optional<Duration> cpu_usage{};  // of all attempts
};

// Reads the files of a run, whose events have been read. A run that is still running, or has died,
// has only what was recorded until then. Blocks as long as read(2) does.
Result<Record> read_record(report::RunEntry entry, std::vector<report::RecordedEvent> events);

// The same of texts: `reports` are those of jobs.jsonl, `summary` is that of summary.json, or
// empty.
[[nodiscard]] Record parse_record(report::RunEntry entry, std::vector<report::RecordedEvent> events,
                                  std::string_view reports, std::string_view summary);

}  // namespace plimsoll::page
