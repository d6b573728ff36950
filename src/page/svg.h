#pragma once

#include <cstdint>
#include <string>

#include "page/record.h"

// The page's pictures as SVG, for a README or a report: of the same attempts, lanes, classes and
// colours (drawing.h). They follow light and dark of where they are shown.
namespace plimsoll::page {

enum class Picture : std::uint8_t {
  timeline,  // attempts in lanes
  memory,    // what the samples show, stacked by class, against the line
};

// One document, which loads nothing. Names of classes are text in it, never markup.
[[nodiscard]] std::string svg_of(const Record& record, Picture picture);

}  // namespace plimsoll::page
