#include "base/text.h"

#include <charconv>

namespace plimsoll {
namespace {

template <class Number>
std::optional<Number> whole_number(std::string_view digits) {
  Number value = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, code] = std::from_chars(digits.data(), last, value);
  if (code != std::errc{} || end != last) return std::nullopt;
  return value;
}

}  // namespace

std::string counted(std::uint64_t count, std::string_view one, std::string_view more) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : more);
}

std::string_view take_until(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view head = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return head;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string_view cut_utf8(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  // Where the next byte goes on with a character, that began before.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

std::optional<std::uint64_t> to_u64(std::string_view digits) {
  return whole_number<std::uint64_t>(digits);
}

std::optional<std::int64_t> to_i64(std::string_view digits) {
  return whole_number<std::int64_t>(digits);
}

std::optional<double> to_double(std::string_view digits) {
  if (digits.empty() || digits.find_first_not_of("0123456789.") != std::string_view::npos) {
    return std::nullopt;
  }
  return whole_number<double>(digits);
}

std::optional<KeyedNumber> take_keyed_number(std::string_view& rest) {
  while (!rest.empty()) {
    std::string_view line = take_line(rest);
    const std::string_view key = take_until(line, ' ');
    if (const auto value = to_u64(line); value && !key.empty()) return KeyedNumber{key, *value};
  }
  return std::nullopt;
}

}  // namespace plimsoll
