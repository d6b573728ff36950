#pragma once

#include <string>
#include <string_view>

// The numbers that decisions rest on (docs/formats/events.md), for people.
namespace plimsoll::report {

// A number by the unit in its name: ("used_bytes", 1536) is "used 1.50 KiB". Those whose names say
// little have words of their own. Text from outside can't control the terminal.
[[nodiscard]] std::string number_text(std::string_view name, double value);

// The number's name in that text: "used".
[[nodiscard]] std::string number_label(std::string_view name);

// What the number means, as a phrase; nothing for a name that is not known here.
[[nodiscard]] std::string_view number_meaning(std::string_view name);

}  // namespace plimsoll::report
