#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analysis/comparison.h"
#include "base/result.h"

// Conditions under which a comparison fails, as `plimsoll compare --fail-if` takes them:
// "peak > +10%", "link: time > 1.5%", "makespan > 20%", "failed > 0".
namespace plimsoll::analysis {

struct Condition {
  std::string text;                        // as given
  std::optional<std::string> job_class{};  // absent: any, and all jobs together
  // A metric of jobs, or the name of a figure of the run.
  std::variant<Metric, std::string> subject{};
  enum class Sense : std::uint8_t { above, below } sense = Sense::above;
  // A change as a share of what was before, or a count of the second run.
  enum class Measure : std::uint8_t { change, count } measure = Measure::change;
  double bound = 0;
};

// Errors say what was found and what was expected.
[[nodiscard]] Result<Condition> parse_condition(std::string_view text);

// Each way in which one holds, as a sentence. A metric of jobs counts only beyond noise; a figure
// that one of the runs does not have holds for nothing.
[[nodiscard]] std::vector<std::string> breaches_of(const Condition& condition,
                                                   const Comparison& comparison);

}  // namespace plimsoll::analysis
