#include "daemon/grpc/quiet.h"

#include <google/protobuf/stubs/logging.h>

#include <cstdlib>

namespace plimsoll::daemon {

void keep_libraries_quiet() {
  google::protobuf::SetLogHandler(nullptr);
  ::setenv("GRPC_VERBOSITY", "NONE", 0);
}

}  // namespace plimsoll::daemon
