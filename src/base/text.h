#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plimsoll {

// Cuts the text up to `separator` off the front of `rest`, the separator too; all of `rest` if the
// separator does not occur. Nothing is copied: the result points into the text.
std::string_view take_until(std::string_view& rest, char separator);

// The next line of `rest` without its newline; a missing last newline is the end of the line.
inline std::string_view take_line(std::string_view& rest) { return take_until(rest, '\n'); }

// `text` without spaces, tabs and newlines at its ends.
std::string_view trim(std::string_view text);

// The start of a UTF-8 text, of so many bytes at most, that ends with a whole character.
std::string_view cut_utf8(std::string_view text, std::size_t bytes_max);

// Of ASCII; the locale has no say.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A decimal number that is the whole of `digits`; nothing for signs, spaces, other characters and
// numbers beyond 64 bits.
std::optional<std::uint64_t> to_u64(std::string_view digits);
std::optional<std::int64_t> to_i64(std::string_view digits);

// A decimal fraction that is the whole of `digits`; nothing for inf, nan and exponents.
std::optional<double> to_double(std::string_view digits);

// "1 job", "4 jobs".
std::string counted(std::uint64_t count, std::string_view one, std::string_view more);

// The next "key value" line of `rest`, as the flat keyed files of the kernel have them (cgroup-v2,
// "Flat keyed"). Lines of another form and values that are no number are passed over: a kernel may
// add what this version does not know. Nothing at the end of the text.
struct KeyedNumber {
  std::string_view key;
  std::uint64_t value = 0;
};
std::optional<KeyedNumber> take_keyed_number(std::string_view& rest);

}  // namespace plimsoll
