#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace plimsoll::loop {

enum class SocketKind : std::uint8_t { stream, packets };  // SOCK_STREAM, SOCK_SEQPACKET

// A Unix socket that listens at this path, open to its owner alone (0600) from its first
// moment; whoever wants others to connect changes its mode. It doesn't block. A socket there at
// which nobody listens is taken away; one at which somebody does is an error that names him, and so
// is anything else in its place. Who has this removes the path when he is done.
Result<UniqueFd> listen_at_path(const std::string& path, SocketKind kind = SocketKind::stream);

}  // namespace plimsoll::loop
