#pragma once

namespace plimsoll::daemon {

// For programs, once, before there are threads: libprotobuf and gRPC otherwise print a line on
// stderr for each message or handshake of a peer's that is wrong, as many as the peer likes. The
// peer is told by its status. GRPC_VERBOSITY of the environment still counts.
void keep_libraries_quiet();

}  // namespace plimsoll::daemon
