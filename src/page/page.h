#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "page/document.h"
#include "page/record.h"

// The page that `plimsoll report RUN --html` writes: one file of HTML, with what shows a run and
// with the run itself. And its pictures as SVG, for a README or a report: of the same attempts,
// lanes, classes and colours (drawing.h). They follow light and dark of where they are shown.
namespace plimsoll::page {

// gzip (RFC 1952), then base64 (RFC 4648): what a browser's DecompressionStream reads. Of letters,
// digits, '+', '/' and '=' alone, whatever the text holds: it can neither end an element nor be
// markup. The same text gives the same result.
[[nodiscard]] std::string packed(std::string_view text);

// What Vite has made of page/: the page without a run. It is a part of the program.
[[nodiscard]] std::string_view page_template();

// The page of a run, or of two. Nothing of a run is markup: it stands there packed.
[[nodiscard]] std::string page_of(const Contents& contents);

enum class Picture : std::uint8_t {
  timeline,  // attempts in lanes
  memory,    // what the samples show, stacked by class, against the line
};

// One document, which loads nothing. Names of classes are text in it, never markup.
[[nodiscard]] std::string svg_of(const Record& record, Picture picture);

}  // namespace plimsoll::page
