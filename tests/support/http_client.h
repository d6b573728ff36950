#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "base/unique_fd.h"

// A client that says over TCP what a test wants it to.
namespace plimsoll::test {

// Of this machine; its reads give up after 30 s. Empty: nobody listens.
inline UniqueFd connect_to(std::uint16_t port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{.tv_sec = 30, .tv_usec = 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  return ::connect(fd.get(), generic, sizeof address) == 0 ? std::move(fd) : UniqueFd();
}

// All that comes until the other side closes; blocks.
inline std::string read_all(int fd) {
  std::string answer;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = ::recv(fd, buffer.data(), buffer.size(), 0)) > 0;) {
    answer.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return answer;
}

inline bool send_text(int fd, const std::string& text) {
  return ::send(fd, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

// The whole answer to what is sent; blocks.
inline std::string exchange(std::uint16_t port, const std::string& request) {
  const UniqueFd fd = connect_to(port);
  if (!fd) return "no connection";
  return send_text(fd.get(), request) ? read_all(fd.get()) : "not sent";
}

}  // namespace plimsoll::test
