#include "supervisor/light/packet.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstring>
#include <utility>

namespace plimsoll::supervisor {
namespace {

// Room for more than is expected: the kernel closes what finds none.
constexpr std::size_t kFdsMax = 4;

UniqueFd take_fd(msghdr& header) {
  UniqueFd first;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      UniqueFd owned(fd);
      if (!first) first = std::move(owned);
    }
  }
  return first;
}

}  // namespace

Result<std::optional<Packet>> receive_packet(int socket, std::size_t bytes_max) {
  Packet packet{.bytes = std::string(bytes_max, '\0')};
  iovec data{.iov_base = packet.bytes.data(), .iov_len = packet.bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kFdsMax * sizeof(int))> control{};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const ssize_t got = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  // A peer that is killed with frames unread resets the connection.
  if (got < 0 && errno == ECONNRESET) return std::optional<Packet>();
  if (got < 0) return fail_errno("receive a frame");
  packet.fd = take_fd(header);
  if (got == 0) return std::optional<Packet>();
  if ((header.msg_flags & MSG_TRUNC) != 0) {
    return fail(std::errc::message_size,
                "found a frame of more than " + std::to_string(bytes_max) + " bytes");
  }
  packet.bytes.resize(static_cast<std::size_t>(got));
  return std::optional(std::move(packet));
}

Result<void> send_packet(int socket, std::string_view bytes, int fd) {
  iovec data{.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (fd >= 0) {
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(part), &fd, sizeof fd);
  }
  if (::sendmsg(socket, &header, MSG_NOSIGNAL) < 0) return fail_errno("send a frame");
  return {};
}

}  // namespace plimsoll::supervisor
