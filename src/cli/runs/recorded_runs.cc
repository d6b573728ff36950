#include "cli/runs/recorded_runs.h"

#include <unistd.h>

#include "cli/command/diagnostics.h"
#include "cli/command/exit_status.h"
#include "report/writer.h"
#include "store/history/state_dir.h"

namespace plimsoll::cli {

Result<std::string> runs_directory() {
  auto dir = history::state_dir(history::state_environment());
  if (!dir) return dir;
  return history::runs_dir(*dir);
}

Result<RecordedRun> read_run(const std::string& name) {
  auto dir = runs_directory();
  if (!dir) return pass(std::move(dir));
  auto entry = report::find_run(*dir, name);
  if (!entry) return pass(std::move(entry));
  auto events = report::read_events(entry->path + "/events.jsonl");
  if (!events) return pass(std::move(events));
  return RecordedRun{std::move(*entry), std::move(*events)};
}

std::string text_of(const std::vector<report::RecordedEvent>& events) {
  std::string text;
  for (const report::RecordedEvent& event : events) text += report::to_json(event);
  return text;
}

Result<std::vector<analysis::JobRow>> job_rows_of(const RecordedRun& run) {
  auto lines = report::read_reports(run.entry.path + "/jobs.jsonl");
  if (!lines) return pass(std::move(lines));
  return analysis::parse_job_rows(*lines, run.events);
}

Result<analysis::ComparedRun> compared_run(const RecordedRun& run) {
  auto jobs = job_rows_of(run);
  if (!jobs) return pass(std::move(jobs));
  return analysis::ComparedRun{
      .id = run.entry.id, .jobs = std::move(*jobs), .figures = run.entry.figures};
}

Result<int> print_text(const std::string& text) {
  auto out = report::OutputFile::onto(UniqueFd(::dup(STDOUT_FILENO)), "standard output");
  if (auto printed = out.append(text); !printed) return pass(std::move(printed));
  return kSuccess;
}

int status_of(const char* command, const Result<int>& done) {
  if (done) return *done;
  complain(std::string(command) + ": " + done.error().message());
  return kPlimsollFailed;
}

}  // namespace plimsoll::cli
