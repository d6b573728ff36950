// plimsoll runs: the runs that were recorded. plimsoll explain: why one of them went as it did.
#include <map>

#include "base/file.h"
#include "cli/command/exit_status.h"
#include "cli/command/options.h"
#include "cli/progress/terminal.h"
#include "cli/runs/commands.h"
#include "cli/runs/recorded_runs.h"
#include "report/plain.h"
#include "store/runs/event_log.h"
#include "store/runs/explain.h"
#include "store/runs/lists.h"
#include "store/runs/run_dir.h"

namespace plimsoll::cli {
namespace {

struct ExplainOptions {
  std::string run;
  std::string job;  // empty: the whole run
  bool failed = false;
  bool json = false;
};

constexpr const char* kRunsFooter = R"(Examples:
  plimsoll runs
  plimsoll runs --json | jq -r '.runs[] | select(.evictions > 0) | .run'

The last 100 runs are kept, with at most 256 MiB; of the runs of `plimsoll run` (which are recorded
if they take 250 ms, fail or have a --class), the last 50. They are in $PLIMSOLL_STATE_DIR/runs,
otherwise in /var/lib/plimsoll/runs for root and in $XDG_STATE_HOME/plimsoll/runs
(~/.local/state/plimsoll/runs) for others.
)";

constexpr const char* kExplainFooter =
    R"(RUN is an id, the beginning of one, a path with a '/', `last`, or `last-1` for the one
before; `plimsoll runs` lists them. JOB is the id that it was given, or its number in the order of
input.

For a run, it prints why jobs waited (FOR how long in all, how many TIMES, how many JOBS), every
pause (AT which time since the start, FOR how long) and every eviction. For a job, it prints every
decision with the numbers behind it, and what each number means.

Examples:
  plimsoll explain last
  plimsoll explain last 17
  plimsoll explain last-1 --failed
  plimsoll explain 20261121 link-app --json
)";

Result<int> list(bool json) {
  auto dir = runs_directory();
  if (!dir) return pass(std::move(dir));
  auto runs = report::list_runs(*dir);
  if (!runs) return pass(std::move(runs));
  if (json) return print_text(report::to_json(*runs, report::JsonForm::pretty));
  if (runs->empty()) return print_text("no run is recorded\n");
  return print_text(report::runs_text(*runs, list_style()));
}

// Of one job: its events, or its report alone where no event was recorded.
Result<int> explain_job(const ExplainOptions& options, const report::RunEntry& run,
                        const std::vector<report::RecordedEvent>& all) {
  const auto events = report::events_of(all, options.job);
  const std::string id = events.empty() ? options.job : events.front().job;
  auto line = report::find_report(run.path + "/jobs.jsonl", id);
  if (!line) return pass(std::move(line));
  const auto end = *line ? report::parse_job_brief(**line) : std::nullopt;
  if (events.empty() && !end) {
    const bool is_whole = run.meta.left_out == report::LeftOut{};
    return fail("run " + run.id + " has no job \"" + report::printable(options.job) + "\"" +
                (is_whole ? "" : " in its record, which is incomplete"));
  }
  if (!options.json) {
    return print_text(report::explain_job(run, events, end, list_style()) +
                      report::numbers_legend(events, list_style()));
  }
  return print_text(text_of(events));
}

// Of each job that failed, as of one.
Result<int> explain_failed(const ExplainOptions& options, const RecordedRun& run) {
  auto lines = report::read_reports(run.entry.path + "/jobs.jsonl");
  if (!lines) return pass(std::move(lines));
  std::map<std::string, std::vector<report::RecordedEvent>> events;  // by job
  for (const report::RecordedEvent& event : run.events) events[event.job].push_back(event);
  std::string text;
  std::vector<report::RecordedEvent> told;
  for (const std::string& line : *lines) {
    const auto end = report::parse_job_brief(line);
    if (!end || !report::has_failed(*end)) continue;
    told.insert(told.end(), events[end->id].begin(), events[end->id].end());
    if (options.json) {
      text += text_of(events[end->id]);
    } else {
      text += (text.empty() ? "" : "\n") +
              report::explain_job(run.entry, events[end->id], end, list_style());
    }
  }
  if (options.json) return print_text(text);
  if (!text.empty()) return print_text(text + report::numbers_legend(told, list_style()));
  return print_text("No job of run " + report::printable(run.entry.id) + " has failed.\n");
}

Result<int> explain(const ExplainOptions& options) {
  auto run = read_run(options.run);
  if (!run) return pass(std::move(run));
  if (options.failed) return explain_failed(options, *run);
  if (!options.job.empty()) return explain_job(options, run->entry, run->events);
  if (options.json) return print_text(text_of(run->events));
  return print_text(report::explain_run(run->entry, run->events, list_style()));
}

}  // namespace

int runs_command(int argc, char** argv) {
  bool json = false;
  CLI::App app("Lists the recorded runs, the last one at the end.", "runs");
  app.footer(kRunsFooter);
  app.add_flag("--json", json, "Print JSON (plimsoll.runs/1) instead of text");
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto status = parse_or_exit_status(app, std::move(arguments))) return *status;
  return status_of("runs", list(json));
}

int explain_command(int argc, char** argv) {
  ExplainOptions options;
  CLI::App app(
      "Explains what was decided in a recorded run, and why: for the whole run, or for one job.",
      "explain");
  app.footer(kExplainFooter);
  app.add_option("RUN", options.run, "Run to explain: an id, the beginning of one, last, or a path")
      ->required();
  auto* job = app.add_option("JOB", options.job, "Job of that run: an id or a number");
  app.add_flag("--failed", options.failed, "Explain each job that failed")->excludes(job);
  app.add_flag("--json", options.json, "Print the events as JSON lines (plimsoll.event/1)");
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto status = parse_or_exit_status(app, std::move(arguments))) return *status;
  return status_of("explain", explain(options));
}

}  // namespace plimsoll::cli
