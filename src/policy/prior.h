#pragma once

#include <string_view>

#include "policy/estimate.h"

// What is believed of a job before anything like it was ever seen.
namespace plimsoll::policy {

struct Prior {
  Belief peak;     // bytes
  Belief cores;    //
  Belief seconds;  // running time
};

// Of a tool by its name, as Key::tool has it; a wide one for tools that nobody has heard of.
[[nodiscard]] Prior prior_of(std::string_view tool);

}  // namespace plimsoll::policy
