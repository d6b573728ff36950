#include "base/loop/unix_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83  // Linux 6.16
#endif

namespace plimsoll::loop {
namespace {

constexpr int kBacklog = 128;
constexpr mode_t kForOwner = 0600;
constexpr std::size_t kFdsMax = 253;  // of one message (SCM_MAX_FD of the kernel)

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
  // Older kernels do not know this.
  const int none = 0;
  if (kind == SocketKind::stream) {
    ::setsockopt(socket.get(), SOL_SOCKET, SO_PASSRIGHTS, &none, sizeof none);
  }
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

Result<Received> receive(int socket, std::span<char> into, int flags) {
  iovec data{.iov_base = into.data(), .iov_len = into.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kFdsMax * sizeof(int))> control{};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const ssize_t got = ::recvmsg(socket, &header, flags | MSG_CMSG_CLOEXEC);
  if (got < 0) return fail_errno("receive from a socket");
  Received received{.bytes = static_cast<std::size_t>(got),
                    .is_cut = (header.msg_flags & MSG_TRUNC) != 0};
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      received.fds.emplace_back(fd);
    }
  }
  return received;
}

}  // namespace plimsoll::loop
