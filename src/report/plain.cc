#include "report/plain.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace plimsoll::report {
namespace {

constexpr std::string_view kCut = "..";
constexpr std::size_t kTextMin = 24;  // columns; less is hard to read, then lines get longer

struct Range {
  utf8proc_int32_t first, last;
};

// C0, DEL, C1, and what has no width of its own but turns the order of the characters around it, or
// hides between them.
constexpr Range kControls[] = {
    {0x00, 0x1F},     {0x7F, 0x9F},     {0xAD, 0xAD},     {0x061C, 0x061C}, {0x200B, 0x200F},
    {0x2028, 0x202E}, {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F}};

bool is_control(utf8proc_int32_t code) {
  const auto* const after = std::upper_bound(
      std::begin(kControls), std::end(kControls), code,
      [](utf8proc_int32_t value, const Range& range) { return value < range.first; });
  return after != std::begin(kControls) && code <= std::prev(after)->last;
}

struct Character {
  std::string_view bytes;
  utf8proc_int32_t code = 0;  // below 0: a byte that is no part of a UTF-8 character
};

// Cuts the first character off a text, or one byte where there is none.
Character take_character(std::string_view& text) {
  Character first;
  const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &first.code);
  first.bytes = text.substr(0, length > 0 ? static_cast<std::size_t>(length) : 1);
  text.remove_prefix(first.bytes.size());
  return first;
}

// Two columns also for what this version of Unicode does not know, as new emoji are wide; one also
// for marks that combine, as not every terminal puts them over what stands before. Rather too many
// than too few: a line that was taken for narrower than it is runs over.
std::size_t width_of(const Character& character) {
  constexpr utf8proc_int32_t kFirstWide = 0x1100;  // most text is below
  if (character.code < kFirstWide) return 1;
  const bool unknown = utf8proc_category(character.code) == UTF8PROC_CATEGORY_CN;
  return unknown || utf8proc_charwidth(character.code) == 2 ? 2 : 1;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Character character = take_character(text);
    if (character.code < 0 || is_control(character.code)) {
      out += '?';
    } else {
      out += character.bytes;
    }
  }
  return out;
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) columns += width_of(take_character(text));
  return columns;
}

std::string fitted(std::string_view text, std::size_t width) {
  if (columns_of(text) <= width) return std::string(text);
  std::string out;
  if (width <= kCut.size()) return std::string(kCut.substr(0, width));
  std::size_t left = width - kCut.size();
  while (!text.empty()) {
    const Character character = take_character(text);
    const std::size_t columns = width_of(character);
    if (columns > left) break;
    left -= columns;
    out += character.bytes;
  }
  out += kCut;
  return out;
}

std::string fitted_in_the_middle(std::string_view text, std::size_t width) {
  if (columns_of(text) <= width) return std::string(text);
  if (width <= kCut.size()) return std::string(kCut.substr(0, width));
  const std::size_t tail_width = (width - kCut.size()) / 2;
  // Characters leave from the front until the rest fits.
  std::string_view tail = text;
  std::size_t columns = columns_of(tail);
  while (columns > tail_width) columns -= width_of(take_character(tail));
  return fitted(text, width - columns) + std::string(tail);
}

void append_wrapped(std::string& out, std::string_view text, std::size_t indent,
                    std::size_t width) {
  const std::size_t room = std::max(kTextMin, width > indent ? width - indent : 0);
  std::size_t used = 0;
  while (!text.empty()) {
    const std::string_view word = take_until(text, ' ');
    if (word.empty()) continue;
    const std::size_t columns = columns_of(word);
    if (used > 0 && used + 1 + columns > room) {
      out.append("\n").append(indent, ' ');
      used = 0;
    } else if (used > 0) {
      out += ' ';
      ++used;
    }
    out += word;
    used += columns;
  }
  out += '\n';
}

}  // namespace plimsoll::report
