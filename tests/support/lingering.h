#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "base/unique_fd.h"

// Descriptors whose last close waits for whoever has made them so.
namespace plimsoll::testing {

// Two ends of a connection over loopback.
inline std::pair<UniqueFd, UniqueFd> connect_over_tcp() {
  const UniqueFd door(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(door.get(), generic, size), 0);
  EXPECT_EQ(::listen(door.get(), 1), 0);
  EXPECT_EQ(::getsockname(door.get(), generic, &size), 0);
  UniqueFd near(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(near.get(), generic, size), 0);
  return {std::move(near), UniqueFd(::accept4(door.get(), nullptr, nullptr, SOCK_CLOEXEC))};
}

// To close it waits for who does not read at the other end, for as long as a test may take.
inline UniqueFd make_linger(UniqueFd fd) {
  const linger day{.l_onoff = 1, .l_linger = 86'400};
  EXPECT_EQ(::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &day, sizeof day), 0);
  const std::string bytes(65'536, 'x');
  while (::send(fd.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) continue;
  return fd;
}

// Whether who has closed the other end did not linger: the connection is reset. Waits so many
// milliseconds for it; -1: for ever.
inline bool is_reset(const UniqueFd& fd, int patience) {
  pollfd ready{.fd = fd.get(), .events = 0, .revents = 0};
  return ::poll(&ready, 1, patience) == 1 && (ready.revents & (POLLERR | POLLHUP)) != 0;
}

// The copy that is sent is then the only one.
inline void send_away(const UniqueFd& socket, UniqueFd fd) {
  char byte = 0;
  const int number = fd.get();
  iovec text{.iov_base = &byte, .iov_len = 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof number)> control{};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof number);
  std::memcpy(CMSG_DATA(header), &number, sizeof number);
  ASSERT_EQ(::sendmsg(socket.get(), &message, 0), 1);
}

}  // namespace plimsoll::testing
