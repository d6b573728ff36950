#pragma once

#include <string>
#include <vector>

#include "report/json.h"
#include "report/summary.h"
#include "store/history/classes.h"
#include "store/runs/run_dir.h"

// What is remembered, as lists: recorded runs and the classes of the history. Tables for people,
// whose texts from outside can't control the terminal, and documents for programs.
namespace plimsoll::report {

// A line for each run, in the order given.
[[nodiscard]] std::string runs_text(const std::vector<RunEntry>& runs, const TextStyle& style);

// The document `plimsoll.runs/1` of docs/formats/runs.md.
[[nodiscard]] std::string to_json(const std::vector<RunEntry>& runs, JsonForm form);

// A line for each class, in the order given.
[[nodiscard]] std::string history_text(const std::vector<history::ClassSummary>& classes,
                                       const TextStyle& style);

// The document `plimsoll.history/1` of docs/formats/history.md.
[[nodiscard]] std::string to_json(const std::vector<history::ClassSummary>& classes, JsonForm form);

}  // namespace plimsoll::report
