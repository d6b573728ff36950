#include "cli/progress/canvas.h"

namespace plimsoll::cli {
namespace {

// Control functions of ECMA-48, and two private modes of DEC's that terminals without them ignore:
// all between "begin" and "end" is shown at once; lines do not wrap, so that one whose width was
// misjudged spoils no other.
constexpr std::string_view kBegin = "\x1b[?2026h", kEnd = "\x1b[?2026l";
constexpr std::string_view kWrapOff = "\x1b[?7l", kWrapOn = "\x1b[?7h";
constexpr std::string_view kEraseLine = "\x1b[K", kEraseBelow = "\x1b[J";
constexpr std::string_view kNoColour = "\x1b[0m";  // a job's text may have left one on

}  // namespace

std::string Canvas::replace(std::string_view above, const std::vector<std::string>& lines) {
  if (above.empty() && lines.empty() && !drawn_) return {};
  std::string text(kBegin);
  if (drawn_) text += '\r';
  if (drawn_ && (!above.empty() || lines.empty())) text += kEraseBelow;
  text += above;
  if (!lines.empty()) {
    text += kNoColour;
    text += kWrapOff;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      text += lines[i];
      text += kEraseLine;
      if (i + 1 < lines.size()) text += "\r\n";
    }
    text += kEraseBelow;
    if (lines.size() > 1) text += "\x1b[" + std::to_string(lines.size() - 1) + "A";
    text += '\r';
    text += kWrapOn;
  }
  text += kEnd;
  drawn_ = !lines.empty();
  return text;
}

std::string take_whole_lines(std::string& text) {
  const std::size_t whole = text.rfind('\n') + 1;  // npos + 1 is 0
  std::string lines = text.substr(0, whole);
  text.erase(0, whole);
  return lines;
}

}  // namespace plimsoll::cli
