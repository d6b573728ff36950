#include "supervisor/light/packet.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstring>
#include <utility>

#include "base/loop/unix_socket.h"

namespace plimsoll::supervisor {

Result<std::optional<Packet>> receive_packet(int socket, std::size_t bytes_max) {
  Packet packet{.bytes = std::string(bytes_max, '\0')};
  auto got = loop::receive(socket, packet.bytes, 0);
  // A peer that is killed with frames unread resets the connection.
  if (!got && got.error().code == std::errc::connection_reset) return std::optional<Packet>();
  if (!got) return pass(std::move(got), "a frame");
  if (got->bytes == 0 && got->fds.empty()) return std::optional<Packet>();
  packet.bytes.resize(got->bytes);
  packet.fds = std::move(got->fds);
  packet.is_cut = got->is_cut;
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
