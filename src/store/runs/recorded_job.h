#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/counters/usage.h"
#include "policy/job/job.h"
#include "store/runs/event_log.h"

// What a recorded run has of its jobs and of the machine, read back for exports. Keys that are not
// known are passed over, and figures that are not there, or of another type, are absent.
namespace plimsoll::report {

// A document `plimsoll.job/1`. The figures are the last attempt's.
struct RecordedJob {
  std::string id{};
  std::string job_class{};
  policy::Command command{};
  std::string cwd{};
  std::vector<std::string> needs{};  // ids
  int priority = 0;
  std::string outcome{};  // as recorded: a later Plimsoll may know more of them
  std::optional<std::int64_t> exit_code{};
  std::string signal{};
  std::string reason{};
  std::uint64_t attempts = 0;
  std::optional<Duration> wall{};
  std::optional<std::uint64_t> cpus{};  // of the host
  // `totals` is the last sample. Of a report that was recorded without samples it is made of the
  // report's own figures, without memory.stat, which is that of another moment there.
  counters::JobUsage usage{};
  std::optional<counters::SystemSample::Cpu> machine{};
};

// Nothing for any other text.
[[nodiscard]] std::optional<RecordedJob> parse_recorded_job(std::string_view json);

// The system samples of a run summary, a document `plimsoll.run/1`, in order of time; `at` counts
// from the run's start.
[[nodiscard]] std::vector<counters::SystemSample> parse_system_samples(std::string_view json);

// Puts jobs into the order of input, which the events of their run tell. Those of which no event
// was recorded come last, in the order in which they were.
void into_order_of_input(std::vector<RecordedJob>& jobs, const std::vector<RecordedEvent>& events);

}  // namespace plimsoll::report
