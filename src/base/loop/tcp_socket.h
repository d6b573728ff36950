#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace plimsoll::loop {

// Sockets that listen at each address of this host, a name or a number, at this port; 0: any that
// is free, the same for all. They don't block. At least one, or an error that says what could not
// be done: `what`, and where. Asking for the addresses of a name may wait.
Result<std::vector<UniqueFd>> listen_over_tcp(const std::string& host, std::uint16_t port,
                                              const std::string& what);

// Whether only root and who has CAP_NET_BIND_SERVICE may listen at this port, so that nobody else
// can stand in for a server that is not there (ip(7), ip_unprivileged_port_start).
[[nodiscard]] bool is_privileged_port(std::uint16_t port);

// Where such a socket listens.
[[nodiscard]] std::uint16_t port_of(int socket);

}  // namespace plimsoll::loop
