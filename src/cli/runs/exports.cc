#include "cli/runs/exports.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "analysis/advice.h"
#include "analysis/advice_formats.h"
#include "analysis/comparison.h"
#include "analysis/comparison_text.h"
#include "analysis/csv.h"
#include "analysis/job_row.h"
#include "analysis/trace/formats.h"
#include "analysis/trace/trace.h"
#include "base/file.h"
#include "cli/command/diagnostics.h"
#include "cli/command/exit_status.h"
#include "cli/command/options.h"
#include "cli/runs/whatif_grid.h"
#include "cli/runs/whatif_run.h"
#include "page/record.h"
#include "report/plain.h"
#include "report/writer.h"
#include "store/runs/recorded_job.h"

namespace plimsoll::cli {
namespace {

// Absolute, as for a browser; as it was given where that can't be had.
std::string absolute(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path found = std::filesystem::absolute(path, failed);
  return failed ? path : found.string();
}

void tell_where(const char* what, const std::string& path) {
  complain(std::string(what) + " is in " + report::printable(absolute(path)));
}

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
  tell_where("the trace", *options.trace);
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

enum class WhatifWanted : std::uint8_t { if_cheap, always };

bool has_value(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

Result<int> open_page(const std::string& path) {
  if (!has_value("DISPLAY") && !has_value("WAYLAND_DISPLAY")) {
    return fail("--open: there is no desktop here, as neither DISPLAY nor WAYLAND_DISPLAY is set");
  }
  ::execlp("xdg-open", "xdg-open", absolute(path).c_str(), static_cast<char*>(nullptr));
  return fail_errno("--open: start xdg-open");
}

Result<std::string> comparison_of(const RecordedRun& before, const RecordedRun& after) {
  const auto first = compared_run(before);
  if (!first) return tl::unexpected(first.error());
  const auto second = compared_run(after);
  if (!second) return tl::unexpected(second.error());
  return analysis::comparison_json(analysis::compare(*first, *second), {});
}

Result<std::string> advice_of(const RecordedRun& run) {
  const auto jobs = job_rows_of(run);
  if (!jobs && jobs.error().gone()) return std::string();
  if (!jobs) return tl::unexpected(jobs.error());
  const auto advice = analysis::advise(analysis::seen_classes(*jobs, "*"), {});
  return analysis::advice_text(advice, analysis::AdviceFormat::json,
                               {.words = "run " + run.entry.id});
}

// Empty: it was not asked for, and it would take long or can't be had.
Result<std::string> whatif_of(const RecordedRun& run, WhatifWanted wanted) {
  auto replayed = whatif_run_of(run);
  if (wanted == WhatifWanted::if_cheap) {
    if (!replayed || !replayed->makespan || replay_cost(*replayed) > kCheapReplay) return "";
  }
  if (!replayed) return pass(std::move(replayed));
  return whatif_json(*replayed, what_if(*replayed, machines_around(replayed->machine)));
}

Result<page::ShownRun> shown_run(RecordedRun run, WhatifWanted wanted) {
  auto advice = advice_of(run);
  if (!advice) return pass(std::move(advice));
  auto whatif = whatif_of(run, wanted);
  if (!whatif) return pass(std::move(whatif));
  auto record = page::read_record(std::move(run.entry), std::move(run.events));
  if (!record) return pass(std::move(record));
  return page::ShownRun{
      .record = std::move(*record), .advice = std::move(*advice), .whatif = std::move(*whatif)};
}

Result<page::Contents> contents_of(std::vector<RecordedRun> runs, WhatifWanted wanted) {
  page::Contents contents;
  if (runs.size() == 2) {
    auto comparison = comparison_of(runs[0], runs[1]);
    if (!comparison) return pass(std::move(comparison));
    contents.comparison = std::move(*comparison);
  }
  for (RecordedRun& run : runs) {
    auto shown = shown_run(std::move(run), wanted);
    if (!shown) return pass(std::move(shown));
    contents.runs.push_back(std::move(*shown));
  }
  return contents;
}

Result<page::Picture> parse_picture(std::string_view text) {
  if (text == "timeline") return page::Picture::timeline;
  if (text == "memory") return page::Picture::memory;
  return fail("found \"" + std::string(text) + "\", expected timeline or memory");
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

void add_page_options(CLI::App& app, PageOptions& options,
                      std::initializer_list<CLI::Option*> others, CLI::Option* job) {
  auto* html = app.add_option("--html", options.html,
                              "Write a page that shows the run in a browser, or two runs beside "
                              "each other, to FILE, or - for standard output")
                   ->type_name("FILE");
  auto* svg = add_parsed(app, "--svg", options.svg, parse_picture,
                         "Print a picture of the run as SVG: attempts in lanes, or memory by class")
                  ->type_name("timeline|memory")
                  ->excludes(html)
                  ->excludes(job);
  for (CLI::Option* other : others) {
    html->excludes(other);
    svg->excludes(other);
  }
  app.add_flag("--open", options.open, "Open that page in the desktop's browser")->needs(html);
  app.add_flag("--whatif", options.whatif,
               "Show on that page how long other machines would take, even if that takes long")
      ->needs(html);
}

Result<int> print_picture(page::Picture picture, RecordedRun run) {
  const auto record = page::read_record(std::move(run.entry), std::move(run.events));
  if (!record) return tl::unexpected(record.error());
  return print_text(page::svg_of(*record, picture));
}

Result<int> write_page(const PageOptions& options, std::vector<RecordedRun> runs) {
  if (options.open && *options.html == "-") {
    return fail("--open needs a file, but --html - writes to standard output");
  }
  auto contents =
      contents_of(std::move(runs), options.whatif ? WhatifWanted::always : WhatifWanted::if_cheap);
  if (!contents) return pass(std::move(contents));
  const std::string page = page::page_of(*contents);
  if (*options.html == "-") return print_text(page);
  auto written = report::write_file(*options.html, page);
  if (!written) return pass(std::move(written));
  tell_where("the page", *options.html);
  return options.open ? open_page(*options.html) : kSuccess;
}

}  // namespace plimsoll::cli
