#pragma once

#include <string>
#include <vector>

#include "analysis/comparison.h"
#include "analysis/job_row.h"
#include "base/result.h"
#include "store/runs/event_log.h"
#include "store/runs/run_dir.h"

// What the commands that tell of recorded runs share.
namespace plimsoll::cli {

// Where the runs of this user are.
Result<std::string> runs_directory();

struct RecordedRun {
  report::RunEntry entry;
  std::vector<report::RecordedEvent> events;
};

// RUN as the user names it: an id, a unique prefix, a path or `last`.
Result<RecordedRun> read_run(const std::string& name);

// Its jobs in short. An error where the file of reports can't be read.
Result<std::vector<analysis::JobRow>> job_rows_of(const RecordedRun& run);

// The run, as analysis::compare() takes it.
Result<analysis::ComparedRun> compared_run(const RecordedRun& run);

// As they were recorded, a line each.
std::string text_of(const std::vector<report::RecordedEvent>& events);

// Writes to standard output; the answer is the exit status.
Result<int> print_text(const std::string& text);

// The exit status of a command that ended so; an error is told on standard error.
int status_of(const char* command, const Result<int>& done);

}  // namespace plimsoll::cli
