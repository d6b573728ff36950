#include "report/plain.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace plimsoll::report {
namespace {

constexpr std::string_view kCut = "..";
constexpr std::size_t kTextMin = 24;  // columns; less is hard to read, then lines get longer

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The length of the UTF-8 character at the start of `text`; 0 if there is none. Neither overlong
// forms nor surrogates nor numbers beyond Unicode are characters.
std::size_t character_length(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  if (!std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(length),
                   continues)) {
    return 0;
  }
  const unsigned second = byte(1);
  if (first == 0xE0 && second < 0xA0) return 0;
  if (first == 0xED && second >= 0xA0) return 0;
  if (first == 0xF0 && second < 0x90) return 0;
  if (first == 0xF4 && second >= 0x90) return 0;
  return length;
}

// The number of a UTF-8 character that character_length() has found whole.
char32_t code_point(std::string_view character) {
  constexpr unsigned kLeadingBits[] = {0x7F, 0x1F, 0x0F, 0x07};
  auto code = static_cast<char32_t>(static_cast<unsigned char>(character[0]) &
                                    kLeadingBits[character.size() - 1]);
  for (const char c : character.substr(1)) {
    code = (code << 6) | (static_cast<unsigned char>(c) & 0x3Fu);
  }
  return code;
}

struct Range {
  char32_t first, last;
};

// C0, DEL, C1, and what has no width of its own but turns the order of the characters around it, or
// hides between them.
constexpr Range kControls[] = {
    {0x00, 0x1F},     {0x7F, 0x9F},     {0xAD, 0xAD},     {0x061C, 0x061C}, {0x200B, 0x200F},
    {0x2028, 0x202E}, {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F}};

// What terminals show two columns wide: Unicode's East Asian Width W and F, with what is not
// assigned between. Rather too many than too few: a line that was taken for narrower than it is
// runs over.
constexpr Range kWide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23F3},
    {0x25FD, 0x25FE},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267F, 0x267F},
    {0x2693, 0x2693},   {0x26A1, 0x26A1},   {0x26AA, 0x26AB},   {0x26BD, 0x26BE},
    {0x26C4, 0x26C5},   {0x26CE, 0x26CE},   {0x26D4, 0x26D4},   {0x26EA, 0x26EA},
    {0x26F2, 0x26F5},   {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},
    {0x270A, 0x270B},   {0x2728, 0x2728},   {0x274C, 0x274C},   {0x274E, 0x274E},
    {0x2753, 0x2757},   {0x2795, 0x2797},   {0x27B0, 0x27B0},   {0x27BF, 0x27BF},
    {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},   {0x2E80, 0x303E},
    {0x3040, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
    {0xFE10, 0xFE19},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x16FE0, 0x18DFF}, {0x1AFF0, 0x1B2FF}, {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF},
    {0x1F18E, 0x1F18E}, {0x1F191, 0x1F1FF}, {0x1F200, 0x1F64F}, {0x1F680, 0x1F6FF},
    {0x1F7E0, 0x1F7FF}, {0x1F900, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD}};

template <std::size_t N>
bool is_among(char32_t code, const Range (&ranges)[N]) {
  const auto* const after =
      std::upper_bound(std::begin(ranges), std::end(ranges), code,
                       [](char32_t value, const Range& range) { return value < range.first; });
  return after != std::begin(ranges) && code <= std::prev(after)->last;
}

// Cuts the first character off a printable() text; any one byte where there is none.
std::string_view take_character(std::string_view& text) {
  const std::string_view character =
      text.substr(0, std::max<std::size_t>(character_length(text), 1));
  text.remove_prefix(character.size());
  return character;
}

std::size_t width_of(std::string_view character) {
  const bool plain = character.size() == 1;
  return !plain && is_among(code_point(character), kWide) ? 2 : 1;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const bool whole = character_length(text) > 0;
    const std::string_view character = take_character(text);
    if (!whole || is_among(code_point(character), kControls)) {
      out += '?';
    } else {
      out += character;
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
    const std::string_view character = take_character(text);
    const std::size_t columns = width_of(character);
    if (columns > left) break;
    left -= columns;
    out += character;
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
