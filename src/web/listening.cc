#include "web/listening.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <memory>

#include "loop/unix_socket.h"

namespace plimsoll::web {
namespace {

constexpr int kBacklog = 128;

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

Result<UniqueFd> listen_at(const addrinfo& address, const std::string& what) {
  UniqueFd fd(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return fail_errno(what);
  // Not SO_REUSEPORT: two daemons would share the scrapes.
  const int yes = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(fd.get(), address.ai_addr, address.ai_addrlen) != 0 ||
      ::listen(fd.get(), kBacklog) != 0) {
    return fail_errno(what);
  }
  return fd;
}

Result<UniqueFd> listen_over_tcp(const ServerConfig& config) {
  const std::string what =
      "listen for metrics at " + config.host + ":" + std::to_string(config.port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const std::string port = std::to_string(config.port);
  if (const int code = ::getaddrinfo(config.host.c_str(), port.c_str(), &hints, &list); code != 0) {
    return fail(what + ": " + ::gai_strerror(code));
  }
  const std::unique_ptr<addrinfo, FreeAddresses> owner(list);
  Result<UniqueFd> opened = fail(what);
  for (const addrinfo* address = list; address != nullptr; address = address->ai_next) {
    opened = listen_at(*address, what);
    if (opened) break;
  }
  return opened;
}

// As a number; a v4 address in v6 clothes is one of v4. Empty: no IP.
std::string number_of(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
  } else if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
  }
  constexpr std::string_view kMapped = "::ffff:";
  const std::string number = text.data();
  const bool is_v4 = number.starts_with(kMapped) && number.find('.') != std::string::npos;
  return is_v4 ? number.substr(kMapped.size()) : number;
}

std::uint16_t port_of(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET
                   ? reinterpret_cast<const sockaddr_in&>(address).sin_port
                   : reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
}

}  // namespace

Result<Listening> Listening::open(const ServerConfig& config) {
  Listening made;
  if (config.socket.empty()) {
    auto fd = listen_over_tcp(config);
    if (!fd) return pass(std::move(fd));
    made.fd_ = std::move(*fd);
    made.port_ = port_of(made.fd());
    return made;
  }
  auto fd = loop::listen_at_path(config.socket);
  if (!fd) return pass(std::move(fd));
  made.fd_ = std::move(*fd);
  made.path_ = config.socket;
  if (::chmod(config.socket.c_str(), config.socket_mode) != 0) {
    return fail_errno("open " + config.socket);
  }
  return made;
}

Listening::~Listening() {
  if (fd_ && !path_.empty()) ::unlink(path_.c_str());
}

std::string client_of(int connection) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(connection, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  if (address.ss_family == AF_UNIX) {
    ucred who{};
    socklen_t bytes = sizeof who;
    if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &bytes) != 0) return {};
    return "uid " + std::to_string(who.uid);
  }
  std::string number = number_of(address);
  const bool is_here = number == "::1" || number.starts_with("127.");
  return is_here ? std::string() : number;
}

std::string own_address_of(int connection) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(connection, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  return number_of(address);
}

}  // namespace plimsoll::web
