#pragma once

#include <string>
#include <string_view>

#include "page/document.h"

// The page that `plimsoll report RUN --html` writes: one file of HTML, with what shows a run and
// with the run itself.
namespace plimsoll::page {

// gzip (RFC 1952), then base64 (RFC 4648): what a browser's DecompressionStream reads. Of letters,
// digits, '+', '/' and '=' alone, whatever the text holds: it can neither end an element nor be
// markup. The same text gives the same result.
[[nodiscard]] std::string packed(std::string_view text);

// What Vite has made of page/: the page without a run. It is a part of the program.
[[nodiscard]] std::string_view page_template();

// The page of a run, or of two. Nothing of a run is markup: it stands there packed.
[[nodiscard]] std::string page_of(const Contents& contents);

}  // namespace plimsoll::page
