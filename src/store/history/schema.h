#pragma once

#include "base/result.h"
#include "store/history/sqlite.h"

namespace plimsoll::history {

// docs/formats/history.md has every version.
inline constexpr int kSchemaVersion = 4;

// Brings a database from whatever version it has to `version`, in one transaction; an empty one has
// version 0. Several Plimsolls may do so at once. Refused, and left as they are, are databases of
// another program and those of a later version.
Result<void> migrate(Database& database, int version = kSchemaVersion);

}  // namespace plimsoll::history
