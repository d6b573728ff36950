#include "daemon/runner/quoted.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace plimsoll::daemon {
namespace {

struct Character {
  char32_t code = 0;
  std::size_t length = 0;  // 0: the first byte is no part of a character
};

// Neither overlong forms nor surrogates nor numbers beyond Unicode are characters.
Character first_character(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return {byte(0), 1};
  const std::size_t length = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < length) return {};
  char32_t code = byte(0) & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0u) != 0x80) return {};
    code = (code << 6) | (byte(i) & 0x3Fu);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[length] || code > 0x10FFFF || is_surrogate) return {};
  return {code, length};
}

struct CodeRange {
  char32_t first, last;
};

// Controls, spaces other than the plain one, what only formats, and private use.
constexpr CodeRange kHidden[] = {
    {0x00, 0x1F},     {0x7F, 0xA0},     {0xAD, 0xAD},       {0x0600, 0x0605},   {0x061C, 0x061C},
    {0x06DD, 0x06DD}, {0x070F, 0x070F}, {0x1680, 0x1680},   {0x180E, 0x180E},   {0x2000, 0x200F},
    {0x2028, 0x202F}, {0x205F, 0x206F}, {0x3000, 0x3000},   {0xE000, 0xF8FF},   {0xFEFF, 0xFEFF},
    {0xFFF0, 0xFFFB}, {0xFFFE, 0xFFFF}, {0xE0000, 0xE0FFF}, {0xF0000, 0x10FFFF}};

bool is_printable(char32_t code) {
  return std::none_of(std::begin(kHidden), std::end(kHidden), [code](const CodeRange& range) {
    return code >= range.first && code <= range.last;
  });
}

std::string hexadecimal(char32_t code, std::size_t digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(digits, '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit, code >>= 4) {
    *digit = kDigits[code & 0xFu];
  }
  return text;
}

std::string escaped(char32_t code) {
  constexpr std::string_view kNamed = "\a\b\f\n\r\t\v";
  constexpr std::string_view kNames = "abfnrtv";
  if (code < 0x80) {
    const std::size_t at = kNamed.find(static_cast<char>(code));
    if (at != std::string_view::npos) return std::string("\\") + kNames[at];
    return "\\x" + hexadecimal(code, 2);
  }
  return code <= 0xFFFF ? "\\u" + hexadecimal(code, 4) : "\\U" + hexadecimal(code, 8);
}

}  // namespace

std::string go_quoted(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const Character next = first_character(text);
    const std::size_t length = std::max<std::size_t>(next.length, 1);
    if (next.length == 0) {
      result += "\\x" + hexadecimal(static_cast<unsigned char>(text.front()), 2);
    } else if (next.code == '"' || next.code == '\\') {
      result += std::string("\\") + text.front();
    } else if (is_printable(next.code)) {
      result += text.substr(0, length);
    } else {
      result += escaped(next.code);
    }
    text.remove_prefix(length);
  }
  return result + "\"";
}

}  // namespace plimsoll::daemon
