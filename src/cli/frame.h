#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/run_status.h"
#include "record/summary.h"

// A run as a few lines for people. Pure: the same status gives the same lines.
namespace plimsoll::cli {

// The characters that bars and cuts are made of.
enum class Glyphs : std::uint8_t { ascii, unicode };

struct FrameStyle {
  std::size_t width = 80;   // columns; no line is wider
  std::size_t height = 24;  // rows; there are no more lines than that
  record::Colour colour = record::Colour::none;
  Glyphs glyphs = Glyphs::ascii;
};

// One line of counts, one of memory and cores, one for each job that runs, oldest first, and the
// reason if nothing more starts. Where there are more jobs than rows, the heaviest are shown and
// the rest counted. Names and commands can't control the terminal.
[[nodiscard]] std::vector<std::string> frame_lines(const engine::RunStatus& status,
                                                   const FrameStyle& style);

// The counts as one line without colours or bars, for a log.
[[nodiscard]] std::string status_line(const engine::RunStatus& status);

}  // namespace plimsoll::cli
