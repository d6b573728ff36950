#pragma once

#include <array>
#include <string_view>

// The colours of classes, in pages and pictures. They differ in lightness and have no red, which is
// kept for what went wrong. On white and on near-black each has a contrast of 3:1 or more, which
// tools/page_contrast.py checks.
namespace plimsoll::page {

inline constexpr std::array<std::string_view, 8> kClassColours = {
    "#2f6db3", "#c07f00", "#1b9482", "#b8629a", "#6f8a2c", "#7b5fb5", "#3f8fc4", "#94683c"};
inline constexpr std::string_view kOtherColour = "#83898f";  // of all other classes

}  // namespace plimsoll::page
