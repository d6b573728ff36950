#pragma once

#include <string>
#include <vector>

#include "rpc/status.h"

// What a runner does to files around an action. Every call may block; the errors are complete.
namespace plimsoll::rpc {

// The first of these that is not there (symbolic links are followed): UNAVAILABLE.
Status check_paths_exist(const std::vector<std::string>& paths);

// Makes each of `links` a symbolic link to `target`, in place of a file, a link or an empty
// directory.
Status link_temporary_directories(const std::vector<std::string>& links, const std::string& target);

// Removes all that is in the directory; what is mounted in it is unmounted.
Status clean_directory(const std::string& path);

}  // namespace plimsoll::rpc
