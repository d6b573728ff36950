#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "report/summary.h"

// What a frame's lines are made of.
namespace plimsoll::cli {

// The characters that bars are made of.
enum class Glyphs : std::uint8_t { ascii, unicode };

enum class Tone : std::uint8_t { plain, strong, faint, good, warning, bad };

// Text of one tone, printable().
struct Span {
  std::string text;
  Tone tone = Tone::plain;
  bool operator==(const Span&) const = default;
};

// A line of text that knows how many columns it takes whatever its colours. It never gets wider
// than what it was made with: more is cut.
class TintedLine {
 public:
  TintedLine(std::size_t width, report::Colour colour) : width_(width), colour_(colour) {}

  // `text` is report::printable().
  void add(std::string_view text, Tone tone = Tone::plain);
  // Spaces up to this column, counted from 0; none if the line is that long already.
  void pad_to(std::size_t column);

  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] std::size_t room() const { return width_ - columns_; }
  // Without spaces at its end.
  [[nodiscard]] std::string text() const;
  // The same without codes for colours, for whoever draws by other means.
  [[nodiscard]] const std::vector<Span>& spans() const { return spans_; }

 private:
  std::size_t width_;
  report::Colour colour_;
  std::vector<Span> spans_;
  std::size_t columns_ = 0;
};

// A bar of `width` columns, `share` of it filled (0..1, more is full). Nothing if the width is less
// than kGaugeMin.
void add_gauge(TintedLine& line, double share, std::size_t width, Tone tone, Glyphs glyphs);
inline constexpr std::size_t kGaugeMin = 6;

// "0:05", "12:34", "1:02:03", "2d03h": whole seconds, as a clock that runs.
[[nodiscard]] std::string clock_text(Duration duration);

// "5 s", "40 s", "4 min", "1 h 20 min": the longer, the rounder, so that an estimate doesn't
// jitter.
[[nodiscard]] std::string rough_text(Duration duration);

}  // namespace plimsoll::cli
