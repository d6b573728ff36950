#include "guardian/channel.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "base/file.h"

namespace plimsoll::guardian {
namespace {

// First byte of each packet: whether its body follows or is in the first descriptor.
constexpr char kInline = 'i';
constexpr char kInMemfd = 'm';

union ControlBuffer {
  cmsghdr header;
  std::array<char, CMSG_SPACE(sizeof(int) * Channel::kPacketFdsMax)> bytes;
};

Result<UniqueFd> memfd_of(std::string_view bytes) {
  UniqueFd fd(::memfd_create("plimsoll-request", MFD_CLOEXEC));
  if (!fd) return fail_errno("make a memfd");
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd.get(), bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return fail_errno("write a memfd");
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return fd;
}

Result<void> send_packet(int socket, int flags, char kind, std::string_view body,
                         const std::vector<int>& fds) {
  std::array<iovec, 2> parts = {iovec{&kind, 1},
                                iovec{const_cast<char*>(body.data()), body.size()}};
  ControlBuffer control{};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  if (!fds.empty()) {
    const std::size_t size = sizeof(int) * fds.size();
    message.msg_control = control.bytes.data();
    message.msg_controllen = CMSG_SPACE(size);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(size);
    std::memcpy(CMSG_DATA(header), fds.data(), size);
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &message, flags | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return fail_errno("send to the other process");
  return {};
}

std::vector<UniqueFd> take_fds(msghdr& message) {
  std::vector<UniqueFd> fds;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      fds.emplace_back(fd);
    }
  }
  return fds;
}

}  // namespace

Result<std::pair<Channel, Channel>> Channel::make_pair() {
  std::array<int, 2> fds{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds.data()) != 0) {
    return fail_errno("make a socket pair");
  }
  return std::pair(Channel(UniqueFd(fds[0])), Channel(UniqueFd(fds[1])));
}

bool Channel::other_is_gone() const {
  pollfd asked{.fd = socket_.get(), .events = 0, .revents = 0};
  return ::poll(&asked, 1, 0) == 1 && (asked.revents & POLLHUP) != 0;
}

Result<void> Channel::send(std::string_view bytes, const std::vector<int>& fds) const {
  return send_with(0, bytes, fds);
}

Result<void> Channel::try_send(std::string_view bytes, const std::vector<int>& fds) const {
  return send_with(MSG_DONTWAIT, bytes, fds);
}

Result<void> Channel::send_with(int flags, std::string_view bytes,
                                const std::vector<int>& fds) const {
  if (fds.size() >= kPacketFdsMax || bytes.size() > kPacketBytesMax) {
    return fail(std::errc::argument_list_too_long, "send to the other process");
  }
  if (bytes.size() <= kInlineBytesMax)
    return send_packet(socket_.get(), flags, kInline, bytes, fds);
  auto memfd = memfd_of(bytes);
  if (!memfd) return pass(std::move(memfd));
  std::vector<int> with_body = {memfd->get()};
  with_body.insert(with_body.end(), fds.begin(), fds.end());
  return send_packet(socket_.get(), flags, kInMemfd, bytes.substr(0, kHeadBytes), with_body);
}

Result<Packet> Channel::receive() {
  buffer_.resize(kInlineBytesMax + 1);
  iovec part{buffer_.data(), buffer_.size()};
  ControlBuffer control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return fail_errno("receive from the other process");
  if (got == 0) return fail(std::errc::connection_reset, "receive from the other process");

  Packet packet;
  packet.fds = take_fds(message);
  packet.is_torn = (message.msg_flags & MSG_CTRUNC) != 0;
  if ((message.msg_flags & MSG_TRUNC) != 0) {
    return fail(std::errc::bad_message, "receive from the other process");
  }
  const char kind = buffer_.front();
  if (kind == kInMemfd && !packet.is_torn && !packet.fds.empty()) {
    auto body = read_text(packet.fds.front().get());
    if (!body) return pass(std::move(body));
    packet.bytes = std::move(*body);
    packet.fds.erase(packet.fds.begin());
    return packet;
  }
  packet.bytes.assign(buffer_, 1, static_cast<std::size_t>(got) - 1);
  return packet;
}

}  // namespace plimsoll::guardian
