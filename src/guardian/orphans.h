#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/units.h"

namespace plimsoll::guardian {

// A process that was ended, or could not be.
struct Orphan {
  pid_t pid = 0;
  std::string comm;
  bool lives = false;
};

// Kills and waits for all children, and for what comes to this process, their subreaper, as they
// die: what adoptions.h has not ended. Blocks until none is left or
// `deadline` has come. Children that end meanwhile by themselves are not told.
std::vector<Orphan> end_orphans(Instant deadline, Instant (*clock)());

}  // namespace plimsoll::guardian
