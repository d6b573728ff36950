#pragma once

#include <string>
#include <string_view>

// Text in few characters, for a page that is one file.
namespace plimsoll::page {

// gzip (RFC 1952), then base64 (RFC 4648): what a browser's DecompressionStream reads. Of letters,
// digits, '+', '/' and '=' alone, whatever the text holds: it can neither end an element nor be
// markup. The same text gives the same result.
[[nodiscard]] std::string packed(std::string_view text);

}  // namespace plimsoll::page
