#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/runs/recorded_runs.h"
#include "page/page.h"

// What `plimsoll report` writes of a run beside its report: traces and tables for other programs to
// draw, pages and pictures.
namespace plimsoll::cli {

enum class TraceFormat : std::uint8_t { perfetto, chrome };
enum class CsvTable : std::uint8_t { jobs, samples, events };

struct ExportOptions {
  std::optional<std::string> trace;  // FILE; "-": standard output
  std::optional<TraceFormat> trace_format;
  std::optional<CsvTable> csv;

  [[nodiscard]] bool are_given() const { return trace || csv; }
};

// `others` ask for something else.
void add_export_options(CLI::App& app, ExportOptions& options,
                        std::initializer_list<CLI::Option*> others);

// What is asked for of a whole run. The answer is the exit status.
Result<int> export_run(const ExportOptions& options, const RecordedRun& run);

// plimsoll report RUN --html FILE: the page of a recorded run, or of two; --svg: a picture of it.
struct PageOptions {
  std::optional<std::string> html;  // FILE; "-": standard output
  bool open = false;
  std::optional<page::Picture> svg;  // instead of the page: a picture on standard output
  bool whatif = false;  // reckon what other machines would take, however long that takes
};

// `others` ask for something else; `job` is the second name, which a page takes for a run.
void add_page_options(CLI::App& app, PageOptions& options,
                      std::initializer_list<CLI::Option*> others, CLI::Option* job);

// Prints that picture of a run. The answer is the exit status.
Result<int> print_picture(page::Picture picture, RecordedRun run);

// Writes the page of a run, or of those two that `runs` has, the earlier first. With --open the
// program then becomes xdg-open, which gives the page to the desktop's browser. The answer is the
// exit status.
Result<int> write_page(const PageOptions& options, std::vector<RecordedRun> runs);

}  // namespace plimsoll::cli
