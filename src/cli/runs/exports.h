#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/runs/recorded_runs.h"

// What `plimsoll report` writes of a run for other programs to draw: traces and tables.
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

}  // namespace plimsoll::cli
