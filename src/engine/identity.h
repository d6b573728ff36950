#pragma once

#include <string>

#include "base/result.h"
#include "guardian/spawn_request.h"

namespace plimsoll::engine {

// The user and groups of "USER", "USER:GROUP", "UID" or "UID:GID"; a user known to the system
// brings its supplementary groups. Asks the system's databases, which can take long: once a run.
Result<guardian::Identity> find_identity(const std::string& user);

}  // namespace plimsoll::engine
