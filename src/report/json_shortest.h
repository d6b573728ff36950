#pragma once

#include <string>

#include "report/json_text.h"

// JSON for those who compare texts: numbers as the programs write them that the exports stand
// beside.
namespace plimsoll::report {

// The fewest digits that read back as the same number: "0", "30.007". An exponent only below 1e-6
// and from 1e21 on; "null" for what is no number.
[[nodiscard]] std::string shortest(double number);

// As text_of() in the form `pretty`, with each fraction as shortest() has it.
[[nodiscard]] std::string shortest_text_of(const Json& json);

}  // namespace plimsoll::report
