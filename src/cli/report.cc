// plimsoll report: a recorded run in the formats of others, and as it was recorded.
#include <fcntl.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/diagnostics.h"
#include "cli/exit_status.h"
#include "cli/options.h"
#include "cli/recorded_runs.h"
#include "record/event_log.h"
#include "record/explain.h"
#include "record/plain.h"
#include "record/provenance.h"
#include "record/recorded_job.h"
#include "record/run_dir.h"
#include "record/run_meta.h"

namespace plimsoll::cli {
namespace {

struct ReportOptions {
  std::string run;
  std::string job;  // empty: all
  bool provenance = false;
  bool json = false;
};

constexpr const char* kReportFooter =
    R"(RUN is an id, the beginning of one, a path with a '/', or `last`; `plimsoll runs` lists them.
JOB is the id that it was given, or its number in the order of input.

Of a run that goes on, or died, it tells of the jobs that have ended.

Examples:
  plimsoll report last --json | jq -r 'select(.outcome != "exited") | .id'
  plimsoll report last --provenance > run.intoto.json
  plimsoll report 20261121 --provenance link-app |
    jq '.predicate.buildDefinition.internalParameters.buildConfig.llbDefinition[].resourceUsage'
)";

std::optional<int> parse(ReportOptions& options, int argc, char** argv) {
  CLI::App app("Prints a recorded run for other programs: all of it, or one job.", "report");
  app.footer(kReportFooter);
  app.add_option("RUN", options.run, "The run")->required();
  app.add_option("JOB", options.job, "One job of it");
  auto* provenance = app.add_flag("--provenance", options.provenance,
                                  "SLSA provenance in an in-toto statement, with what each job has "
                                  "used in BuildKit's shape");
  app.add_flag("--json", options.json,
               "The reports as they were recorded, as JSON lines (plimsoll.job/1)")
      ->excludes(provenance);
  if (const auto status =
          parse_or_exit_status(app, std::vector<std::string>(argv + 1, argv + argc))) {
    return status;
  }
  if (!options.provenance && !options.json) {
    complain("report: give --provenance or --json");
    return kPlimsollFailed;
  }
  return std::nullopt;
}

// The reports that are asked for, as lines.
Result<std::vector<std::string>> find_reports(const ReportOptions& options,
                                              const record::RunEntry& run,
                                              const std::vector<record::RecordedEvent>& events) {
  const std::string path = run.path + "/jobs.jsonl";
  if (options.job.empty()) return record::read_reports(path);
  const auto told = record::events_of(events, options.job);
  auto line = record::find_report(path, told.empty() ? options.job : told.front().job);
  if (!line) return pass(std::move(line));
  if (*line) return std::vector{**line + '\n'};
  const std::string job = "job \"" + record::printable(options.job) + "\"";
  if (told.empty()) return fail("run " + run.id + " has no " + job);
  return fail(job + " of run " + run.id + " has not ended, or its report was not recorded");
}

std::string provenance_of(const record::RunEntry& run, const std::vector<std::string>& lines,
                          const std::vector<record::RecordedEvent>& events) {
  std::vector<record::RecordedJob> jobs;
  for (const std::string& line : lines) {
    if (auto job = record::parse_recorded_job(line)) jobs.push_back(std::move(*job));
  }
  record::into_order_of_input(jobs, events);
  // A run that goes on, or died, has none.
  const auto summary = read_text_at(AT_FDCWD, run.path + "/summary.json");
  return record::provenance_text(run, jobs, record::parse_system_samples(summary.value_or("")));
}

Result<int> print_run(const ReportOptions& options) {
  auto run = read_run(options.run);
  if (!run) return pass(std::move(run));
  auto lines = find_reports(options, run->entry, run->events);
  if (!lines) return pass(std::move(lines));
  if (options.provenance) return print_text(provenance_of(run->entry, *lines, run->events));
  std::string text;
  for (const std::string& line : *lines) text += line;
  return print_text(text);
}

}  // namespace

int report_command(int argc, char** argv) {
  ReportOptions options;
  if (const auto status = parse(options, argc, argv)) return *status;
  return status_of("report", print_run(options));
}

}  // namespace plimsoll::cli
