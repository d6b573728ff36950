#pragma once

namespace plimsoll::daemon {

// For programs, once, before requests come: libprotobuf otherwise prints a line on stderr for each
// message of a peer's that is wrong, as many as the peer likes. The peer is told by its status.
void keep_protobuf_quiet();

}  // namespace plimsoll::daemon
