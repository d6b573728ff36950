#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace plimsoll::guardian {

// One message of the channel: bytes and descriptors.
struct Packet {
  std::string bytes;
  std::vector<UniqueFd> fds;
  // This process had no descriptor left for some or all of them. Of a packet that travelled as a
  // memfd there are the first Channel::kHeadBytes bytes.
  bool is_torn = false;
};

// One end of a SOCK_SEQPACKET pair that carries packets with descriptors (unix(7)). A packet over
// kInlineBytesMax travels as a memfd, so that its size is bounded by kPacketBytesMax alone.
class Channel {
 public:
  static constexpr std::size_t kInlineBytesMax = 64 << 10;
  // The kernel takes at most 6 MiB of argv and environment (a quarter of an unlimited stack,
  // capped).
  static constexpr std::size_t kPacketBytesMax = 8 << 20;
  static constexpr std::size_t kPacketFdsMax = 64;
  // Of a packet in a memfd, so much goes beside it: enough to tell what was lost with it.
  static constexpr std::size_t kHeadBytes = 16;

  static Result<std::pair<Channel, Channel>> make_pair();
  explicit Channel(UniqueFd socket) : socket_(std::move(socket)) {}

  [[nodiscard]] int fd() const { return socket_.get(); }

  // Whether the other side has ended, even if not all that it sent has been read.
  [[nodiscard]] bool other_is_gone() const;

  // Waits while the other side's buffer is full, so only one side may use it. broken_pipe when the
  // other side is gone.
  [[nodiscard]] Result<void> send(std::string_view bytes, const std::vector<int>& fds) const;
  // The same, but resource_unavailable_try_again where it would have to wait.
  [[nodiscard]] Result<void> try_send(std::string_view bytes, const std::vector<int>& fds) const;

  // The next packet without waiting: resource_unavailable_try_again when there is none yet,
  // connection_reset when the other side is gone and everything it sent has been read.
  [[nodiscard]] Result<Packet> receive();

 private:
  [[nodiscard]] Result<void> send_with(int flags, std::string_view bytes,
                                       const std::vector<int>& fds) const;

  UniqueFd socket_;
  std::string buffer_;  // kept from call to call
};

}  // namespace plimsoll::guardian
