#include "base/loop/unix_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

namespace plimsoll::loop {
namespace {

constexpr int kBacklog = 128;
constexpr mode_t kForOwner = 0600;

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return fail("listen at " + path + ": found a path of " + std::to_string(path.size()) +
                " bytes, expected at most " + std::to_string(sizeof address.sun_path - 1));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

// A socket that nobody listens at is taken away; anything else there is in the way.
Result<void> make_way(const std::string& path, const sockaddr_un& address, int type) {
  struct stat about{};
  if (::lstat(path.c_str(), &about) != 0) return {};
  if (!S_ISSOCK(about.st_mode)) {
    return fail(std::errc::address_in_use,
                "listen at " + path + ": found a file that is not a socket");
  }
  const UniqueFd probe(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  const bool connected = ::connect(probe.get(), generic, sizeof address) == 0;
  if (!connected && errno == ECONNREFUSED) {
    ::unlink(path.c_str());
    return {};
  }
  ucred who{};
  socklen_t size = sizeof who;
  if (!connected || ::getsockopt(probe.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) {
    return fail("a daemon is already running at " + path);
  }
  return fail("a daemon is already running: pid " + std::to_string(who.pid) + ", socket " + path);
}

}  // namespace

Result<UniqueFd> listen_at_path(const std::string& path, SocketKind kind) {
  const int type = kind == SocketKind::stream ? SOCK_STREAM : SOCK_SEQPACKET;
  const auto address = address_of(path);
  if (!address) return fail(address.error().what);
  if (auto free = make_way(path, *address, type); !free) return pass(std::move(free));
  UniqueFd socket(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return fail_errno("make a socket");
  const auto* generic = reinterpret_cast<const sockaddr*>(&*address);
  // Closed to others from its first moment: the mode is that of the socket before it is bound.
  if (::fchmod(socket.get(), kForOwner) != 0) return fail_errno("close " + path);
  if (::bind(socket.get(), generic, sizeof *address) != 0) return fail_errno("listen at " + path);
  if (::listen(socket.get(), kBacklog) != 0) {
    auto failed = fail_errno("listen at " + path);
    ::unlink(path.c_str());
    return failed;
  }
  return socket;
}

}  // namespace plimsoll::loop
