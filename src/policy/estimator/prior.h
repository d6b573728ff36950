#pragma once

#include <optional>
#include <string_view>

#include "policy/estimator/estimate.h"
#include "policy/estimator/live_profile.h"

namespace plimsoll::policy {

// What is believed of a job before anything like it was ever seen.
struct Prior {
  Belief peak;     // bytes
  Belief cores;    //
  Belief seconds;  // running time
  // Bytes: until it has passed `peak.mean`, a job is not expected to grow beyond this; absent:
  // nobody has said how far it grows.
  std::optional<double> growth_ends{};
};

// Of a tool, as Key::tool names it: by its kind of work where that matters, else by its name.
// Nothing for tools that nobody has heard of.
[[nodiscard]] std::optional<Prior> prior_of(std::string_view tool);

// Of a command of which nothing is known.
[[nodiscard]] Prior unknown_prior();

// What is believed of an attempt where no earlier one tells, from a prior and from the growth that
// it shows itself. Here before it has started. Sets all but `basis` and `attempts_known`.
[[nodiscard]] Estimate guess(const Prior& prior);

// Of a running one: the prior is believed less the longer nothing grows; growth is expected to go
// on for about as long as it has, and for longer once the prior is exceeded.
[[nodiscard]] Estimate guess(const Prior& prior, const LiveProfile& live_profile);

}  // namespace plimsoll::policy
