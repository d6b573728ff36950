#include "daemon/metrics/listening.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/loop/tcp_socket.h"
#include "base/loop/unix_socket.h"
#include "daemon/metrics/user_of_here.h"

namespace plimsoll::metrics {
namespace {

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

// Whoever has one address of v6 mostly has all that share its first half.
std::string network_of(const sockaddr_storage& address, std::string number) {
  if (address.ss_family != AF_INET6 || number.find(':') == std::string::npos) return number;
  in6_addr v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  std::fill(v6.s6_addr + sizeof v6 / 2, v6.s6_addr + sizeof v6, 0);
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET6, &v6, text.data(), text.size());
  return text.data();
}

}  // namespace

Result<Listening> Listening::open(const ServerConfig& config) {
  Listening made;
  if (config.socket.empty()) {
    auto listening = loop::listen_over_tcp(config.host, config.port, "listen for metrics");
    if (!listening) return pass(std::move(listening));
    made.fd_ = std::move(listening->front());
    made.port_ = loop::port_of(made.fd());
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
  const bool is_loopback = number == "::1" || number.starts_with("127.");
  if (!is_loopback && number != own_address_of(connection)) {
    return network_of(address, std::move(number));
  }
  std::string user = user_of_here(connection);
  return user.empty() && !is_loopback ? network_of(address, std::move(number)) : user;
}

std::string own_address_of(int connection) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(connection, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  return number_of(address);
}

}  // namespace plimsoll::metrics
