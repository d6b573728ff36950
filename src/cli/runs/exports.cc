#include "cli/runs/exports.h"

#include <fcntl.h>
#include <unistd.h>

#include "analysis/csv.h"
#include "analysis/job_row.h"
#include "analysis/trace/formats.h"
#include "analysis/trace/trace.h"
#include "base/file.h"
#include "cli/command/exit_status.h"
#include "cli/command/options.h"
#include "report/writer.h"
#include "store/runs/recorded_job.h"

namespace plimsoll::cli {
namespace {

Result<TraceFormat> parse_trace_format(std::string_view text) {
  if (text == "perfetto") return TraceFormat::perfetto;
  if (text == "chrome") return TraceFormat::chrome;
  return fail("found \"" + std::string(text) + "\", expected perfetto or chrome");
}

Result<CsvTable> parse_table(std::string_view text) {
  if (text == "jobs") return CsvTable::jobs;
  if (text == "samples") return CsvTable::samples;
  if (text == "events") return CsvTable::events;
  return fail("found \"" + std::string(text) + "\", expected jobs, samples or events");
}

Result<int> write_trace(const ExportOptions& options, const RecordedRun& run) {
  auto lines = report::read_reports(run.entry.path + "/jobs.jsonl");
  if (!lines && !lines.error().gone()) return pass(std::move(lines));
  const auto summary = read_text_at(AT_FDCWD, run.entry.path + "/summary.json");
  analysis::TracedRun traced{.entry = &run.entry,
                             .events = &run.events,
                             .jobs = {},
                             .system = report::parse_system_samples(summary.value_or(""))};
  if (lines) {
    for (const std::string& line : *lines) {
      const auto job = report::parse_recorded_job(line);
      if (job) traced.jobs.push_back(analysis::traced_job(*job));
    }
  }
  const analysis::Trace trace = analysis::trace_of(traced);
  const std::string text =
      options.trace_format.value_or(TraceFormat::perfetto) == TraceFormat::chrome
          ? analysis::chrome_trace(trace)
          : analysis::perfetto_trace(trace);
  if (*options.trace == "-") return print_text(text);
  auto written = report::write_file(*options.trace, text);
  if (!written) return pass(std::move(written));
  return kSuccess;
}

Result<int> print_samples(const std::vector<std::string>& lines) {
  auto out = report::OutputFile::onto(UniqueFd(::dup(STDOUT_FILENO)), "standard output");
  auto printed = out.append(analysis::samples_csv_heading());
  for (const std::string& line : lines) {
    if (!printed) break;
    if (const auto job = report::parse_recorded_job(line)) {
      printed = out.append(analysis::samples_csv(*job));
    }
  }
  if (!printed) return pass(std::move(printed));
  return kSuccess;
}

Result<int> print_csv(CsvTable table, const RecordedRun& run) {
  if (table == CsvTable::events) return print_text(analysis::events_csv(run.events));
  if (table == CsvTable::samples) {
    auto lines = report::read_reports(run.entry.path + "/jobs.jsonl");
    return lines ? print_samples(*lines) : pass(std::move(lines));
  }
  const auto jobs = job_rows_of(run);
  if (!jobs) return tl::unexpected(jobs.error());
  return print_text(analysis::jobs_csv(*jobs));
}

}  // namespace

void add_export_options(CLI::App& app, ExportOptions& options,
                        std::initializer_list<CLI::Option*> others) {
  auto* trace = app.add_option("--trace", options.trace,
                               "Write a trace for https://ui.perfetto.dev to FILE, or - for "
                               "standard output")
                    ->type_name("FILE");
  add_parsed(app, "--trace-format", options.trace_format, parse_trace_format,
             "Format of the trace (default: perfetto)")
      ->type_name("perfetto|chrome")
      ->needs(trace);
  auto* csv = add_parsed(app, "--csv", options.csv, parse_table, "Print a table as CSV")
                  ->type_name("jobs|samples|events")
                  ->excludes(trace);
  for (CLI::Option* other : others) {
    trace->excludes(other);
    csv->excludes(other);
  }
}

Result<int> export_run(const ExportOptions& options, const RecordedRun& run) {
  return options.trace ? write_trace(options, run) : print_csv(*options.csv, run);
}

}  // namespace plimsoll::cli
