#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace plimsoll::loop {

enum class SocketKind : std::uint8_t { stream, packets };  // SOCK_STREAM, SOCK_SEQPACKET

// A Unix socket that listens at this path, open to its owner alone (0600) from its first
// moment; whoever wants others to connect changes its mode. It doesn't block. A socket there at
// which nobody listens is taken away; one at which somebody does is an error that names him, and so
// is anything else in its place. Who has this removes the path when he is done.
//
// Where the kernel can refuse it (Linux 6.16), nobody sends a descriptor over a connection of a
// stream: to close one may wait.
Result<UniqueFd> listen_at_path(const std::string& path, SocketKind kind = SocketKind::stream);

struct Received {
  std::size_t bytes = 0;
  std::vector<UniqueFd> fds{};  // that came with them
  bool is_cut = false;          // the packet was longer
};

// What has come on a Unix socket, with all descriptors that came with it (SCM_RIGHTS): those for
// which no place is made here the kernel closes, and that may wait. Errors: errno's of recvmsg(2).
Result<Received> receive(int socket, std::span<char> into, int flags);

}  // namespace plimsoll::loop
