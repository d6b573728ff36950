#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

// Where running Plimsolls of one user meet.
namespace plimsoll::supervisor {

// $PLIMSOLL_RUNTIME_DIR, else /run/plimsoll for root, else $XDG_RUNTIME_DIR/plimsoll, else
// run-HOST in the state directory (store/history/state_dir.h): a home may be shared by machines,
// and only those of one machine meet. Nowhere that others may write, as they could be there first.
// Empty where there is no such place.
[[nodiscard]] std::string runtime_dir();

// Opens the directory, which must be this user's own (or root's) and closed to everybody else;
// anything else there is an error that says so.
Result<UniqueFd> open_runtime_dir(const std::string& path);
// The same, and makes it (0700), and what is missing above it, if there is none.
Result<UniqueFd> make_runtime_dir(const std::string& path);

// Connects to the socket of a run; gone() if no such run lives. The descriptor does not block.
Result<UniqueFd> connect_to_run(int directory, const std::string& run);

// The runs that live, by their sockets, sorted. Connects to each.
Result<std::vector<std::string>> live_runs(int directory);

// Takes away the sockets of runs that are dead, both of each. Returns these runs, sorted.
std::vector<std::string> remove_stale_sockets(int directory);

// The name of a run's socket in the directory.
[[nodiscard]] std::string socket_name(const std::string& run);
// And that of the one at which it admits commands of its jobs (supervisor/light).
[[nodiscard]] std::string light_socket_name(const std::string& run);

}  // namespace plimsoll::supervisor
