#pragma once

#include "cli/progress/gauge.h"
#include "report/summary.h"

// What the terminal of a descriptor can show, by its size and the environment.
namespace plimsoll::cli {

// How to write for people on a descriptor: as wide as the terminal, in colour where it is one.
report::TextStyle style_of(int fd);
// None if NO_COLOR is set or TERM says that the terminal has none.
report::Colour terminal_colour();

// For what names jobs at the end of a run, and for lists on standard output: where it is no
// terminal, nothing is cut off.
report::TextStyle stderr_style();
report::TextStyle list_style();

// What the locale says of its characters.
[[nodiscard]] Glyphs terminal_glyphs();

}  // namespace plimsoll::cli
