#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/curves.h"

namespace plimsoll::sim {

// One line of a trace: a job without its place among the others, which the whole file gives.
struct ParsedCurve {
  SimJob job;
  std::optional<std::string> id{};  // where the line has one
  std::vector<std::string> needs;
};

// Parses one JSON object. Unknown keys are passed over. Errors say what was found and what was
// expected; the caller puts in front where.
[[nodiscard]] Result<ParsedCurve> parse_curve(std::string_view line);

}  // namespace plimsoll::sim
