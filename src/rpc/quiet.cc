#include "rpc/quiet.h"

#include <google/protobuf/stubs/logging.h>

namespace plimsoll::rpc {

void keep_protobuf_quiet() { google::protobuf::SetLogHandler(nullptr); }

}  // namespace plimsoll::rpc
