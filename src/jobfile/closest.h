#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace plimsoll::jobfile {

// The one of `known` that `word` was most likely meant to be: the fewest letters to insert, delete,
// replace or swap with their neighbour for its length, the first of equals. Nothing where all
// differ by more than half of their letters. O(|word| x total length of `known`); of words beyond
// 64 bytes only the beginning is compared.
[[nodiscard]] std::optional<std::string_view> closest(std::string_view word,
                                                      std::span<const std::string_view> known);

}  // namespace plimsoll::jobfile
