#pragma once

#include <string>

#include "base/units.h"

namespace plimsoll::supervisor {

// An id for a run that starts now: "20261121-035916-3f2a91c4". Ids are in the order of the starts.
std::string new_run_id(WallTime now);

}  // namespace plimsoll::supervisor
