#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace plimsoll::sim {

// What an xz decoder may take for its dictionary: the largest preset needs 65 MiB.
inline constexpr std::size_t kUnpackMemoryMax = 256 << 20;

// Whether a file that begins so is one of xz (the format's magic bytes, whatever its name).
[[nodiscard]] bool is_xz(std::string_view beginning);

// The text in a whole .xz file, several streams one after the other too. Errors: a damaged or cut
// file, a decoder that needs more than kUnpackMemoryMax, a text longer than `bytes_max`.
[[nodiscard]] Result<std::string> unpack_xz(std::string_view packed, std::size_t bytes_max);

}  // namespace plimsoll::sim
