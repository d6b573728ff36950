// plimsoll report: a recorded run, for people, in the formats of others, and as it was recorded.
#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/command/exit_status.h"
#include "cli/command/options.h"
#include "cli/progress/terminal.h"
#include "cli/runs/commands.h"
#include "cli/runs/exports.h"
#include "cli/runs/recorded_runs.h"
#include "report/plain.h"
#include "report/summary.h"
#include "store/runs/event_log.h"
#include "store/runs/explain.h"
#include "store/runs/provenance.h"
#include "store/runs/recorded_job.h"
#include "store/runs/recorded_report.h"
#include "store/runs/run_dir.h"
#include "store/runs/run_meta.h"

namespace plimsoll::cli {
namespace {

struct ReportOptions {
  std::string run;
  std::string job;  // empty: all
  bool provenance = false;
  bool json = false;
  ExportOptions exports;
  PageOptions page;
};

constexpr const char* kReportFooter =
    R"(RUN is an id, the beginning of one, a path with a '/', `last`, or `last-1` for the one
before; `plimsoll runs` lists them. JOB is the id that it was given, or its number in the order of
input. With --html, JOB names a second run instead; the page shows what has changed from RUN to it.

For a run that has not finished, or whose Plimsoll was killed, only the jobs that have ended are
reported.

Examples:
  plimsoll report last
  plimsoll report last-1 link-app
  plimsoll report last --json | jq -r 'select(.outcome != "exited") | .id'
  plimsoll report last --html run.html --open
  plimsoll report last --html run.html --whatif
  plimsoll report last-1 last --html changes.html
  plimsoll report last --svg memory > memory.svg
  plimsoll report last --trace run.pftrace
  plimsoll report last --csv jobs > jobs.csv
  plimsoll report last --provenance > run.intoto.json
  plimsoll report last --provenance link-app | jq '.predicate.buildDefinition
    .internalParameters.buildConfig.llbDefinition[].resourceUsage'
)";

std::optional<int> parse(ReportOptions& options, int argc, char** argv) {
  CLI::App app(
      "Prints the summary of a recorded run, or of one of its jobs; --json and --provenance print "
      "reports for programs.",
      "report");
  app.footer(kReportFooter);
  app.add_option("RUN", options.run, "Run to report: an id, the beginning of one, last, or a path")
      ->required();
  auto* job =
      app.add_option("JOB", options.job,
                     "Job of that run: an id or a number; with --html, a run to compare with it");
  auto* provenance = app.add_flag(
      "--provenance", options.provenance,
      "Print SLSA provenance in an in-toto statement, with what each job used, in BuildKit's form");
  auto* json =
      app.add_flag("--json", options.json,
                   "Print the reports as they were recorded, as JSON lines (plimsoll.job/1)")
          ->excludes(provenance);
  add_export_options(app, options.exports, {job, provenance, json});
  add_page_options(app, options.page,
                   {provenance, json, app.get_option("--trace"), app.get_option("--csv")}, job);
  return parse_or_exit_status(app, std::vector<std::string>(argv + 1, argv + argc));
}

// The reports that are asked for, as lines.
Result<std::vector<std::string>> find_reports(const ReportOptions& options,
                                              const report::RunEntry& run,
                                              const std::vector<report::RecordedEvent>& events) {
  const std::string path = run.path + "/jobs.jsonl";
  if (options.job.empty()) return report::read_reports(path);
  const auto told = report::events_of(events, options.job);
  auto line = report::find_report(path, told.empty() ? options.job : told.front().job);
  if (!line) return pass(std::move(line));
  if (*line) return std::vector{**line + '\n'};
  const std::string job = "job \"" + report::printable(options.job) + "\"";
  if (told.empty()) return fail("run " + run.id + " has no " + job);
  return fail(job + " of run " + run.id + " has not ended, or its report was not recorded");
}

std::string provenance_of(const report::RunEntry& run, const std::vector<std::string>& lines,
                          const std::vector<report::RecordedEvent>& events) {
  std::vector<report::RecordedJob> jobs;
  for (const std::string& line : lines) {
    if (auto job = report::parse_recorded_job(line)) jobs.push_back(std::move(*job));
  }
  report::into_order_of_input(jobs, events);
  // A run that goes on, or died, has none.
  const auto summary = read_text_at(AT_FDCWD, run.path + "/summary.json");
  return report::provenance_text(run, jobs, report::parse_system_samples(summary.value_or("")));
}

// Of a run without an end of its own.
std::string how_far(const report::RunEntry& run, std::size_t ended) {
  if (run.meta.kind == report::RunKind::governed) {
    const std::string steps = counted(ended, "step", "steps");
    if (run.state == report::RunState::died) {
      return steps + " had ended when it died; the others were killed.\n";
    }
    return steps + (ended == 1 ? " has" : " have") + " ended so far.\n";
  }
  const std::string jobs = std::to_string(ended) + " of its " + std::to_string(run.meta.jobs) +
                           (run.meta.jobs == 1 ? " job" : " jobs");
  if (run.state == report::RunState::died) {
    return jobs + " had ended when it died; the others were killed or never started.\n";
  }
  return jobs + (ended == 1 ? " has" : " have") + " ended so far.\n";
}

// What `plimsoll batch` said at its end; of a run without one, of the jobs that have ended.
std::string summary_of(const report::RunEntry& run, const std::vector<std::string>& lines) {
  report::TopJobs top_jobs(report::kHeaviestListed);
  report::RunSummary ended;
  for (const std::string& line : lines) {
    const auto report = report::parse_job_report(line);
    if (!report) continue;
    top_jobs.add(*report);
    ++ended.outcomes[report->outcome];
  }
  const auto text = read_text_at(AT_FDCWD, run.path + "/summary.json");
  const auto summary = report::parse_run_summary(text.value_or(""));
  if (summary) ended = *summary;
  const Bytes least{ended.line.value_or(Bytes{}).count / report::kHeavyShare};
  const report::TextStyle style = style_of(STDOUT_FILENO);
  std::string out = report::run_heading(run, style);
  if (!summary) out += how_far(run, top_jobs.jobs());
  out += report::heaviest_table(top_jobs, {.by = report::Weight::memory, .from = least}, style);
  // Of steps it is not known how many there were, nor of a command how it ended.
  const bool is_known = top_jobs.jobs() > 0 && run.meta.kind != report::RunKind::governed;
  return summary || is_known ? out + report::run_text(ended, top_jobs, style) : out;
}

// Where a page is asked for, the second name is that of another run.
Result<int> write_page_of(const ReportOptions& options, RecordedRun run) {
  std::vector<RecordedRun> runs;
  runs.push_back(std::move(run));
  if (!options.job.empty()) {
    auto other = read_run(options.job);
    if (!other) return pass(std::move(other));
    runs.push_back(std::move(*other));
  }
  return write_page(options.page, std::move(runs));
}

Result<int> print_run(const ReportOptions& options) {
  auto run = read_run(options.run);
  if (!run) return pass(std::move(run));
  if (options.exports.are_given()) return export_run(options.exports, *run);
  if (options.page.svg) return print_picture(*options.page.svg, std::move(*run));
  if (options.page.html) return write_page_of(options, std::move(*run));
  auto lines = find_reports(options, run->entry, run->events);
  if (!lines) return pass(std::move(lines));
  if (options.provenance) return print_text(provenance_of(run->entry, *lines, run->events));
  std::string text;
  if (options.json) {
    for (const std::string& line : *lines) text += line;
    return print_text(text);
  }
  if (options.job.empty()) return print_text(summary_of(run->entry, *lines));
  const auto report = report::parse_job_report(lines->front());
  if (!report)
    return fail("the report of job \"" + report::printable(options.job) + "\" can't be read");
  return print_text(report::job_summary(*report, style_of(STDOUT_FILENO)));
}

}  // namespace

int report_command(int argc, char** argv) {
  ReportOptions options;
  if (const auto status = parse(options, argc, argv)) return *status;
  return status_of("report", print_run(options));
}

}  // namespace plimsoll::cli
