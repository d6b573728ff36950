#pragma once

#include <sys/types.h>

namespace plimsoll::cli {

// Lets a child of this process and its descendants go on that somebody else has stopped and can't
// let go on any more. Looks through all processes of the machine.
void continue_family(pid_t first);

}  // namespace plimsoll::cli
