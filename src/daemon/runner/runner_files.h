#pragma once

#include <string>
#include <vector>

#include "daemon/grpc/status.h"

// What a runner does to files around an action. Every call may block; the errors are complete.
namespace plimsoll::daemon {

// Where it is not there (symbolic links are followed): UNAVAILABLE.
Status check_path_exists(const std::string& path);

// Makes each of `links` a symbolic link to `target`, in place of a file, a link or an empty
// directory.
Status link_temporary_directories(const std::vector<std::string>& links, const std::string& target);

}  // namespace plimsoll::daemon
