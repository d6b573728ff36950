#include "daemon/grpc/quiet.h"

#include <google/protobuf/stubs/logging.h>

namespace plimsoll::daemon {

void keep_protobuf_quiet() { google::protobuf::SetLogHandler(nullptr); }

}  // namespace plimsoll::daemon
