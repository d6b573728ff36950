#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "store/runs/event_log.h"
#include "store/runs/recorded_job.h"

// A recorded job in short, as comparisons, advice and tables want it.
namespace plimsoll::analysis {

// The figures are the last attempt's, but for `held` and `paused`, which are those of all.
struct JobRow {
  std::string id{};
  std::uint64_t number = 0;  // in the order of input, which events tell; 0: not known
  std::string job_class{};
  std::string command{};  // as one line; any bytes
  std::string outcome{};  // as recorded
  std::optional<std::int64_t> exit_code{};
  std::string signal{};
  std::uint64_t attempts = 0;
  std::optional<WallTime> queued{}, started{}, ended{};
  std::optional<Duration> wall{};
  std::optional<Duration> ran{};  // without pauses; absent: not known apart from the wall time
  std::optional<Duration> held{}, paused{};
  std::optional<Duration> cpu{};
  // The highest `used` of its samples; of a job that was never looked at, the kernel's peak, which
  // counts clean page cache too.
  std::optional<Bytes> peak{};
  std::optional<Bytes> kernel_peak{};
  std::optional<Bytes> limit{};  // of its memory, if it had one of its own
  std::optional<Bytes> read{}, written{};
};

// As the history has it: the class that was given, else the one derived from the command.
[[nodiscard]] std::string class_of(const std::string& given, const policy::Command& command);

// A document `plimsoll.job/1`; nothing for any other text.
[[nodiscard]] std::optional<JobRow> parse_job_row(std::string_view json);

// Of the lines of a file of reports; those that are none are passed over. `events` tell numbers.
[[nodiscard]] std::vector<JobRow> parse_job_rows(const std::vector<std::string>& lines,
                                                 const std::vector<report::RecordedEvent>& events);

// It exited by itself, with 0.
[[nodiscard]] bool succeeded(const JobRow& job);
// Its command was executed, as far as can be told: a shell says with 126 or 127 that it was not.
[[nodiscard]] bool was_executed(const JobRow& job);
// Mean use while it ran.
[[nodiscard]] std::optional<double> cores(const JobRow& job);

}  // namespace plimsoll::analysis
