#pragma once

#include <optional>
#include <string_view>

#include "report/report.h"

// What people are told of jobs and runs (summary.h), read back from a record. Keys that are not
// known are passed over, and figures that are not there, or of another type, are absent. Samples
// and what only programs want stay out (recorded_job.h).
namespace plimsoll::report {

// A document `plimsoll.job/1`. Nothing for any other text, and for an outcome of a later Plimsoll.
[[nodiscard]] std::optional<JobReport> parse_job_report(std::string_view json);

// A document `plimsoll.run/1`, without its calibration. Nothing for any other text.
[[nodiscard]] std::optional<RunSummary> parse_run_summary(std::string_view json);

}  // namespace plimsoll::report
