#pragma once

#include <optional>
#include <string_view>

#include "policy/estimator/estimate.h"

// What is believed of a job before anything like it was ever seen.
namespace plimsoll::policy {

struct Prior {
  Belief peak;     // bytes
  Belief cores;    //
  Belief seconds;  // running time
};

// Of a tool, as Key::tool names it: by its kind of work where that matters, else by its name.
// Nothing for tools that nobody has heard of.
[[nodiscard]] std::optional<Prior> prior_of(std::string_view tool);

// Of a command of which nothing is known.
[[nodiscard]] Prior unknown_prior();

}  // namespace plimsoll::policy
