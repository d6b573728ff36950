#pragma once

#include <string>

namespace plimsoll::supervisor {

inline constexpr const char* kRootDaemonSocket = "/run/plimsolld.sock";

// Where the daemon listens unless it is told otherwise, and others look for it:
// $PLIMSOLL_RUNTIME_DIR/daemon.socket if that is set, else /run/plimsolld.sock for root, else
// $XDG_RUNTIME_DIR/plimsolld.sock, else daemon.socket in runtime_dir(). Not beside the sockets of
// runs where others may connect: that directory is closed to them.
[[nodiscard]] std::string default_daemon_socket();

}  // namespace plimsoll::supervisor
