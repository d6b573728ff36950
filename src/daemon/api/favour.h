#pragma once

#include <optional>

#include "base/result.h"
#include "supervisor/external/external_job.h"

namespace plimsoll::daemon {

// What a client may ask for to come before others: a priority above 0, or a weight of CPU time
// above the default.
struct Favour {
  int priority = 0;
  std::optional<unsigned> weight{};
};

// Only root and the daemon's own user may ask for one; permission_denied says what was found.
[[nodiscard]] Result<void> check_favour(const supervisor::Peer& peer, const Favour& favour);

}  // namespace plimsoll::daemon
