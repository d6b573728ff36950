#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

// What stands in the small files of a recorded run (docs/formats/runs.md).
namespace plimsoll::report {

// Events and reports that are not in a record, by the reason why.
struct LeftOut {
  std::uint64_t unstarted = 0;  // of jobs that never started, from a size of the record on
  std::uint64_t beyond = 0;     // above the bound of one run's record
  std::uint64_t late = 0;       // came faster than they could be written
  std::uint64_t unwritten = 0;  // the disk did not take them
  bool operator==(const LeftOut&) const = default;
};

// A run of one command (`plimsoll run`) is not worth as much as one of many. The jobs of a governed
// one (`plimsoll govern`) are the steps of its command; how many come is not known at the start.
enum class RunKind : std::uint8_t { batch, single, governed };

// meta.json: what is known when a run begins, and what its record lacks at the end.
struct RunMeta {
  std::string run{};  // id
  RunKind kind = RunKind::batch;
  std::vector<std::string> command_line{};  // of Plimsoll
  WallTime started{};
  std::uint64_t jobs = 0;  // that are known when it begins
  std::optional<Bytes> line{};
  std::optional<double> cores{};
  LeftOut left_out{};  // known at the end
};

// Whether a run has come to its end; a killed Plimsoll leaves `begun`.
enum class RunMark : std::uint8_t { begun, finished };

struct MarkedMeta {
  RunMeta meta;
  RunMark mark = RunMark::begun;
};

[[nodiscard]] std::string to_json(const RunMeta& meta, RunMark mark);
// Nothing if it is no such document; keys that are not known are passed over.
[[nodiscard]] std::optional<MarkedMeta> parse_meta(std::string_view json);

// The figures of summary.json, a document `plimsoll.run/1`, that lists and explanations need.
struct RunFigures {
  std::optional<Duration> makespan{};
  std::uint64_t jobs = 0;
  std::map<std::string, std::uint64_t> outcomes{};
  std::optional<std::uint64_t> succeeded{};  // runs of older versions do not say it
  std::uint64_t small_steps = 0;             // jobs that have no outcome, as of CommandReport
  std::uint64_t holds = 0;
  std::uint64_t pauses = 0;
  std::uint64_t evictions = 0;
  std::optional<Duration> lost_cpu{};
  std::optional<Bytes> line{};
  std::optional<Bytes> used_peak{};
};
[[nodiscard]] std::optional<RunFigures> parse_figures(std::string_view json);

// What an explanation needs of a job's report, a document `plimsoll.job/1`.
struct JobBrief {
  std::string id{};
  std::string command{};  // as one line; any bytes
  std::string outcome{};
  std::optional<std::int64_t> exit_code{};
  std::string signal{};
  std::string reason{};
  std::uint64_t attempts = 0;
  std::optional<Duration> wall{}, held{}, paused{};
  std::optional<Bytes> peak{};
};
// Not a success, and not only skipped.
[[nodiscard]] bool has_failed(const JobBrief& job);
[[nodiscard]] std::optional<JobBrief> parse_job_brief(std::string_view json);

}  // namespace plimsoll::report
