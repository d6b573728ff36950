#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/progress/gauge.h"
#include "report/summary.h"
#include "supervisor/control/run_status.h"

// A run as a few lines for people. Pure: the same status gives the same lines.
namespace plimsoll::cli {

// What becomes of names, commands and reasons that are wider than a line.
enum class LongText : std::uint8_t { cut, whole };

struct FrameStyle {
  std::size_t width = 80;   // columns; no line is wider, but for long texts that stay whole
  std::size_t height = 24;  // rows; there are no more lines than that
  report::Colour colour = report::Colour::none;
  Glyphs glyphs = Glyphs::ascii;
  LongText long_text = LongText::cut;
  Duration shown_after{};  // a job that has run for less is counted, but has no line
};

// One line of counts, one of memory and cores, the reason if nothing more starts, and one line for
// each job that runs, oldest first. Where there are more jobs than rows, the heaviest are shown and
// the rest counted; fewer columns leave out figures from the right. Names and commands can't
// control the terminal.
[[nodiscard]] std::vector<std::string> frame_lines(const supervisor::RunStatus& status,
                                                   const FrameStyle& style);

// The counts, and why nothing more starts, as one line without colours or bars, for a log.
[[nodiscard]] std::string status_line(const supervisor::RunStatus& status);

}  // namespace plimsoll::cli
