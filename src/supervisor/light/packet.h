#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

// One packet of a SOCK_SEQPACKET socket, and the descriptors that come with it.
namespace plimsoll::supervisor {

struct Packet {
  std::string bytes;
  std::vector<UniqueFd> fds{};  // whatever the peer has sent: to close one may wait
  bool is_cut = false;          // it was longer than asked for
};

// The next packet; nothing: the peer has closed the connection. Waits only if the socket blocks.
// Errors: resource_unavailable_try_again, interrupted.
Result<std::optional<Packet>> receive_packet(int socket, std::size_t bytes_max);

// Sends `bytes` as one packet, with a copy of `fd` unless it is negative. Never raises SIGPIPE.
// Errors: as above, and broken_pipe.
Result<void> send_packet(int socket, std::string_view bytes, int fd);

}  // namespace plimsoll::supervisor
