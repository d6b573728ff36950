#pragma once

#include <sys/stat.h>

#include <optional>
#include <string_view>

namespace plimsoll::procfs {

// The process that took a flock(2) on a file, in a text of /proc/locks (proc_locks(5)). Whoever
// inherits its descriptor holds the lock as well, and is not named. Nothing: the file is not
// locked, or its locker can't be told: it is of another pid namespace, or died in this one if that
// is not the machine's own.
[[nodiscard]] std::optional<int> flock_owner(std::string_view locks, const struct stat& file);

}  // namespace plimsoll::procfs
