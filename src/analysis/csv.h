#pragma once

#include <string>
#include <vector>

#include "analysis/job_row.h"
#include "store/runs/event_log.h"
#include "store/runs/recorded_job.h"

// Records as tables for notebooks and spreadsheets: CSV as of RFC 4180 but with lines that end in a
// bare newline, a heading first. An empty cell is a figure that is not known. Names and units are
// those of the JSON documents (docs/formats/). A text that a spreadsheet would take for a formula
// (it begins with = + - @, a tab or a carriage return) has an apostrophe before it; numbers never.
namespace plimsoll::analysis {

[[nodiscard]] std::string jobs_csv(const std::vector<JobRow>& jobs);

// `numbers` of all events have a column each, in the order of their names.
[[nodiscard]] std::string events_csv(const std::vector<report::RecordedEvent>& events);

// The heading, and the lines of one job: a run has too many samples for them all at once.
[[nodiscard]] std::string samples_csv_heading();
[[nodiscard]] std::string samples_csv(const report::RecordedJob& job);

}  // namespace plimsoll::analysis
