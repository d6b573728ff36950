#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plimsoll::output {

// Where the next byte of a text stands in its line.
enum class InLine : std::uint8_t { start, middle };

// Copies `data` to the end of `out`, with `tag` and a tab in front of each line that begins in it.
// Ends before a line once `out` has `limit` bytes. Returns how much of `data` was taken: at least
// one line, or all. `at` says where `data` begins, and afterwards where what was taken ends.
std::size_t append_tagged(std::string& out, const std::optional<std::string>& tag,
                          std::string_view data, std::size_t limit, InLine& at);

}  // namespace plimsoll::output
