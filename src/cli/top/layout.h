#pragma once

#include "cli/top/model.h"
#include "cli/top/screen_line.h"

// The model as the lines of a screen. Pure: the same model gives the same lines. Whatever names,
// commands and reasons hold, no line is wider than the screen or can control a terminal.
namespace plimsoll::cli::top {

// Of Model::page(). No more lines than the screen has.
[[nodiscard]] Frame frame_of(const Model& model, const ScreenStyle& style);

// The heading of the jobs, and the line of one.
[[nodiscard]] Line heading_line(const Model& model, const ScreenStyle& style);
[[nodiscard]] Line job_line(const Model& model, const Row& row, const ScreenStyle& style);

}  // namespace plimsoll::cli::top
