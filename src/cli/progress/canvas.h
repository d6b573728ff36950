#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::cli {

// Draws a few lines at the bottom of what a terminal shows, again and again in place, and lets
// other text scroll by above them. Pure: gives what is to be written, in this order and whole.
//
// Invariant: while something is drawn, the cursor rests at the start of its first line. So text of
// strangers (what somebody types, `| tee`) overwrites a line of the frame, which the next drawing
// puts right, and never makes an erasure hit what stood there before.
class Canvas {
 public:
  // Prints `above`, whole lines, where the frame was, and the frame below it. Lines are no wider
  // than the terminal and fewer than its rows.
  [[nodiscard]] std::string replace(std::string_view above, const std::vector<std::string>& lines);

  // Takes the frame away; nothing if there is none.
  [[nodiscard]] std::string erase() { return replace({}, {}); }

  // Somebody else has the terminal now: what is drawn there is no longer ours to erase.
  void forget() { drawn_ = false; }

  [[nodiscard]] bool drawn() const { return drawn_; }

 private:
  bool drawn_ = false;
};

// Cuts the whole lines off the front of `text` and returns them; what is left has no newline.
[[nodiscard]] std::string take_whole_lines(std::string& text);

}  // namespace plimsoll::cli
