#pragma once

#include <string>

#include "client.h"

namespace plimsoll::testing {

// Gives up a running action so many times; prints how long it takes from there until its process is
// dead, and until its group is removed. 0 if each was.
int cancel(Runner::Stub& stub, const std::string& build, unsigned count);

}  // namespace plimsoll::testing
