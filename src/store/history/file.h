#pragma once

#include <optional>
#include <string>

#include "base/disk.h"
#include "base/result.h"
#include "base/units.h"
#include "store/history/sqlite.h"

namespace plimsoll::history {

// docs/formats/history.md has every version.
inline constexpr int kSchemaVersion = 6;

// Brings a database from whatever version it has to `version`, in one transaction; an empty one has
// version 0. Several Plimsolls may do so at once. Refused, and left as they are, are databases of
// another program and those of a later version.
Result<void> migrate(Database& database, int version = kSchemaVersion);

// The database as a file among others of its name. For Store.

// Opens the database, which is made if nothing of this name is there, and brings it to the present
// version. Made apart and then given its name, so that nobody ever meets half a database.
Result<Database> open_database(const std::string& path, const Disk& disk);

// Renames a damaged database to PATH.corrupt-DATE, and what belongs to it likewise; the oldest of
// more than kAsideMax such are removed. Of several Plimsolls that find the damage at once only one
// does so, and it looks once more before: for the others, and if the database proves sound, there
// is nothing to do but open again. Tells the new name, or nothing if it was not renamed here.
Result<std::optional<std::string>> set_aside(const std::string& path, WallTime now,
                                             const Disk& disk);

}  // namespace plimsoll::history
