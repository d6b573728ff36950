#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

// Who runs jobs on this machine now and can be asked how they do: this user's runs, and the daemon.
namespace plimsoll::cli {

// What the daemon is called in place of a run's id.
inline constexpr const char* kDaemon = "daemon";

// A connection on which requests are made (docs/formats/control.md). It does not block.
struct RunLink {
  std::string run;  // its id, or kDaemon
  UniqueFd fd;
};

// The one that a user means: kDaemon, an id, the beginning of one, `last`, `last-N`, or the path of
// a socket. Empty: the only run there is, or the daemon where there is none. An error says what
// there is instead.
Result<RunLink> connect_to(const std::string& wanted);

// All there are, in the order of their start, the daemon last. What ends meanwhile is left out, and
// beside runs a daemon that this user may not talk to.
Result<std::vector<RunLink>> connect_to_all();

}  // namespace plimsoll::cli
