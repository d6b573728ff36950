#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/comparison.h"

// A comparison for people, whose texts from outside can't control the terminal, and for programs.
namespace plimsoll::analysis {

// Which changes of classes are listed.
enum class Listed : std::uint8_t { beyond_noise, all };

struct ComparisonStyle {
  Listed listed = Listed::beyond_noise;
  std::size_t width = 80;
};

// Ends with a newline.
[[nodiscard]] std::string comparison_text(const Comparison& comparison,
                                          const ComparisonStyle& style);

// The document `plimsoll.comparison/1` of docs/compare.md; `breaches` are those of --fail-if.
[[nodiscard]] std::string comparison_json(const Comparison& comparison,
                                          const std::vector<std::string>& breaches);

}  // namespace plimsoll::analysis
