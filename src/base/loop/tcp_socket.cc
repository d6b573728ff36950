#include "base/loop/tcp_socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <memory>

#include "base/file.h"
#include "base/text.h"

namespace plimsoll::loop {
namespace {

constexpr int kTcpBacklog = 128;

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

Result<UniqueFd> listen_at_address(const addrinfo& address, std::uint16_t port,
                                   const std::string& what) {
  UniqueFd fd(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return fail_errno(what);
  // Not SO_REUSEPORT: two daemons would share who comes.
  const int yes = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (address.ai_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(address.ai_addr)->sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in*>(address.ai_addr)->sin_port = htons(port);
  }
  if (::bind(fd.get(), address.ai_addr, address.ai_addrlen) != 0 ||
      ::listen(fd.get(), kTcpBacklog) != 0) {
    return fail_errno(what);
  }
  return fd;
}

}  // namespace

Result<std::vector<UniqueFd>> listen_over_tcp(const std::string& host, std::uint16_t port,
                                              const std::string& what) {
  const std::string where = what + " at " + host + ":" + std::to_string(port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const std::string number = std::to_string(port);
  if (const int code = ::getaddrinfo(host.c_str(), number.c_str(), &hints, &list); code != 0) {
    return fail(where + ": " + ::gai_strerror(code));
  }
  const std::unique_ptr<addrinfo, FreeAddresses> owner(list);
  std::vector<UniqueFd> sockets;
  Result<UniqueFd> last = fail(where);
  for (const addrinfo* address = list; address != nullptr; address = address->ai_next) {
    if (address->ai_family != AF_INET && address->ai_family != AF_INET6) continue;
    last = listen_at_address(*address, sockets.empty() ? port : port_of(sockets[0].get()), where);
    // A host may be without one of the protocols; who is there already is in the way.
    if (!last && last.error().code == std::errc::address_in_use) return pass(std::move(last));
    if (last) sockets.push_back(std::move(*last));
  }
  if (sockets.empty()) return pass(std::move(last));
  return sockets;
}

bool is_privileged_port(std::uint16_t port) {
  constexpr std::uint64_t kUsual = 1024;
  const auto text = read_text_at(AT_FDCWD, "/proc/sys/net/ipv4/ip_unprivileged_port_start");
  return port != 0 && port < (text ? to_u64(trim(*text)).value_or(0) : kUsual);
}

std::uint16_t port_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET
                   ? reinterpret_cast<const sockaddr_in&>(address).sin_port
                   : reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
}

}  // namespace plimsoll::loop
