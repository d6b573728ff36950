#pragma once

#include "policy/estimator/estimate.h"
#include "policy/estimator/live_profile.h"
#include "policy/estimator/prior.h"

// What is believed where no earlier attempt tells: from a prior, and from the growth that the
// attempt itself shows.
namespace plimsoll::policy {

// Of an attempt that has not started. Sets all but `basis` and `attempts_known`.
[[nodiscard]] Estimate guess(const Prior& prior);

// Of a running one: the prior is believed less the longer nothing grows; growth is expected to go
// on for about as long as it has, and for longer once the prior is exceeded.
[[nodiscard]] Estimate guess(const Prior& prior, const LiveProfile& live_profile);

}  // namespace plimsoll::policy
