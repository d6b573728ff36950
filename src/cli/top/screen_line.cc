#include "cli/top/screen_line.h"

#include "base/quantity.h"
#include "report/plain.h"

namespace plimsoll::cli::top {

TintedLine line_of(const ScreenStyle& style) { return {style.width, report::Colour::none}; }

Line made(const TintedLine& line) { return {line.spans(), false}; }

void add_right(TintedLine& line, std::string_view text, std::size_t width, Tone tone) {
  const std::size_t columns = report::columns_of(text);
  line.pad_to(line.columns() + (width > columns ? width - columns : 0));
  line.add(text, tone);
}

std::string short_bytes(Bytes bytes) {
  std::string text = format_bytes(bytes);
  std::erase(text, ' ');
  if (text.ends_with("iB")) text.resize(text.size() - 2);
  return text;
}

std::string text_of(const Line& line) {
  std::string text;
  for (const Span& span : line.spans) text += span.text;
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace plimsoll::cli::top
