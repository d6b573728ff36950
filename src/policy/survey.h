#pragma once

#include <optional>

#include "policy/admission.h"
#include "policy/fleet.h"
#include "policy/governor.h"
#include "policy/ladder.h"
#include "policy/observation.h"
#include "policy/waiting.h"

namespace plimsoll::policy {

// A job of which nothing was known has shown its needs after so long: most programs have read their
// input's beginning and allocated their tables by then.
inline constexpr Duration kSettled = std::chrono::seconds(2);

// What runs, seen together.
struct Survey {
  Surroundings around;        // for admissions: frozen jobs will go on
  Outlook moving;             // for thaws: frozen jobs stand
  bool one_is_alone = false;  // somebody runs who must run alone
};

// O(running). Also tells `waiting` what the running jobs of each kind have shown.
[[nodiscard]] Survey survey(const Fleet& fleet, const GovernorConfig& config,
                            const Ladder::Limits& limits,
                            const std::optional<MachineSample>& machine, Instant now,
                            Waiting& waiting);

}  // namespace plimsoll::policy
