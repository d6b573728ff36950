#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "cli/progress/gauge.h"

// What a screen is made of.
namespace plimsoll::cli::top {

struct Line {
  std::vector<Span> spans{};
  bool selected = false;
};

struct ScreenStyle {
  std::size_t width = 80, height = 24;
  Glyphs glyphs = Glyphs::ascii;  // ascii: no other characters are shown at all
  Instant now{};                  // to tell how long a run has not answered
};

// From the top; the last one is the bottom line, of keys, a message or a question.
struct Frame {
  std::vector<Line> lines;
  std::size_t room = 0;        // for jobs, or for lines of a page that can be scrolled
  std::size_t scrollable = 0;  // how many of those there are
};

inline constexpr std::string_view kMargin = "  ";

// An empty line of the screen, to be filled; and what it has become.
[[nodiscard]] TintedLine line_of(const ScreenStyle& style);
[[nodiscard]] Line made(const TintedLine& line);
// `text` at the right of so many columns.
void add_right(TintedLine& line, std::string_view text, std::size_t width, Tone tone);

// "948M", "1.30G": five columns at most.
[[nodiscard]] std::string short_bytes(Bytes bytes);

// Without its tones, and without spaces at its end.
[[nodiscard]] std::string text_of(const Line& line);

}  // namespace plimsoll::cli::top
