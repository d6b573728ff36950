#pragma once

#include <string>

#include "base/result.h"
#include "daemon/config.h"
#include "guardian/guardian.h"

namespace plimsoll::daemon {

// Line, reserve, cores and most jobs at once, as a daemon with this configuration would have them
// on this machine now: lines for people, each a comment of TOML. Makes the group that the daemon
// would work in, looks, and removes it.
[[nodiscard]] Result<std::string> terms_here(guardian::Link link, const LoadedConfig& loaded);

}  // namespace plimsoll::daemon
