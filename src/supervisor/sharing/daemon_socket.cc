#include "supervisor/sharing/daemon_socket.h"

#include <unistd.h>

#include <cstdlib>

#include "supervisor/sharing/runtime_dir.h"

namespace plimsoll::supervisor {

std::string default_daemon_socket() {
  const char* own = std::getenv("PLIMSOLL_RUNTIME_DIR");
  if (own != nullptr && *own != '\0') return runtime_dir() + "/daemon.socket";
  if (::geteuid() == 0) return kRootDaemonSocket;
  const char* xdg = std::getenv("XDG_RUNTIME_DIR");
  if (xdg != nullptr && *xdg == '/') return std::string(xdg) + "/plimsolld.sock";
  const std::string directory = runtime_dir();
  return directory.empty() ? kRootDaemonSocket : directory + "/daemon.socket";
}

}  // namespace plimsoll::supervisor
