#include "daemon/runner/runner_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/may_wait.h"
#include "daemon/runner/quoted.h"

namespace plimsoll::daemon {
namespace {

bool is_removed(const std::string& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return true;
  if (errno != EISDIR && errno != EPERM) return false;
  return ::rmdir(path.c_str()) == 0;
}

}  // namespace

Status check_path_exists(const std::string& path) {
  may_wait("check_path_exists");
  struct stat about{};
  if (::stat(path.c_str(), &about) == 0) return {};
  return {Code::unavailable, "Path " + go_quoted(path) + ": " + errno_text(errno)};
}

Status link_temporary_directories(const std::vector<std::string>& links,
                                  const std::string& target) {
  may_wait("link_temporary_directories");
  for (auto link = links.rbegin(); link != links.rend(); ++link) {
    if (!is_removed(*link)) {
      return {Code::internal,
              "Failed to remove symbolic link " + go_quoted(*link) + ": " + errno_text(errno)};
    }
    if (::symlink(target.c_str(), link->c_str()) != 0) {
      return {Code::internal,
              "Failed to create symbolic link " + go_quoted(*link) + ": " + errno_text(errno)};
    }
  }
  return {};
}

}  // namespace plimsoll::daemon
