#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Text from outside (commands, names of processes) made fit for a terminal.
namespace plimsoll::report {

// `text` with '?' for each control character, those included that turn the order of writing or that
// nobody sees, and for each byte that is no part of a UTF-8 character: it can neither move the
// cursor nor break a line.
[[nodiscard]] std::string printable(std::string_view text);

// How many columns a printable() text takes on a terminal: two for each ideograph, most emoji and
// what Unicode does not know; one for all else, marks that combine too. Seldom too many, never too
// few.
[[nodiscard]] std::size_t columns_of(std::string_view text);

// A printable() text of `width` columns or fewer: what is too long ends in "..", within `width`.
[[nodiscard]] std::string fitted(std::string_view text, std::size_t width);

// The same, but ".." stands in its middle: both ends are worth seeing.
[[nodiscard]] std::string fitted_in_the_middle(std::string_view text, std::size_t width);

// Appends the words of a printable() text, and a newline: lines of `width` columns, of which those
// after the first start at column `indent`, where `out` stands now.
void append_wrapped(std::string& out, std::string_view text, std::size_t indent, std::size_t width);

}  // namespace plimsoll::report
