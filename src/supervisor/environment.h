#pragma once

#include <string>
#include <utility>
#include <vector>

#include "supervisor/identity.h"

namespace plimsoll::supervisor {

// This process' environment as "NAME=value", with `changes` set or replaced; the last one of a name
// wins.
std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& changes);

// The same for a job of another user, who gets of this process' environment only what is about the
// terminal, the language, the time zone and where programs are (PATH): the rest may be secret, or
// lead to the caller's files. HOME, USER, LOGNAME and SHELL are his own, as of su(1).
std::vector<std::string> environment_of(
    const Account& user, const std::vector<std::pair<std::string, std::string>>& changes);

}  // namespace plimsoll::supervisor
