#pragma once

#include <string>

namespace plimsoll::metrics {

// Whose the other end of this TCP connection is, which comes from this machine: "uid N"; "nobody",
// whose end is closed already. Empty: the kernel does not tell. Asks by NETLINK_SOCK_DIAG
// (sock_diag(7)), which answers at once, and anybody.
[[nodiscard]] std::string user_of_here(int connection);

}  // namespace plimsoll::metrics
