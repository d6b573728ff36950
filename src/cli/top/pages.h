#pragma once

#include <vector>

#include "cli/top/layout.h"

// The pages beside the one of jobs, and the bottom line. For layout.cc.
namespace plimsoll::cli::top {

// The runs that can be chosen, and all of them.
void add_runs(Frame& frame, const Model& model, const ScreenStyle& style);
// As much of these lines as there is room for, from Model::first() on.
void add_page(Frame& frame, std::vector<Line> lines, const Model& model, const ScreenStyle& style);

[[nodiscard]] std::vector<Line> help_lines(const ScreenStyle& style);
// All that is known of the job of the page, then what the record of its run tells.
[[nodiscard]] std::vector<Line> job_page_lines(const Model& model, const ScreenStyle& style);
// Keys, or a message, or what is asked.
[[nodiscard]] Line bottom_line(const Model& model, const ScreenStyle& style);

}  // namespace plimsoll::cli::top
