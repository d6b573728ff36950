#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/recorded_runs.h"

// plimsoll report RUN --html FILE: the page of a recorded run, or of two.
namespace plimsoll::cli {

struct PageOptions {
  std::optional<std::string> html;  // FILE; "-": standard output
  bool open = false;
  bool whatif = false;  // reckon what other machines would take, however long that takes
};

// `others` ask for something else.
void add_page_options(CLI::App& app, PageOptions& options,
                      std::initializer_list<CLI::Option*> others);

// Writes the page of a run, or of those two that `runs` has, the earlier first. With --open the
// program then becomes xdg-open, which gives the page to the desktop's browser. The answer is the
// exit status.
Result<int> write_page(const PageOptions& options, std::vector<RecordedRun> runs);

}  // namespace plimsoll::cli
