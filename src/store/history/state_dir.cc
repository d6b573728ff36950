#include "store/history/state_dir.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/file.h"

namespace plimsoll::history {
namespace {

constexpr mode_t kPrivateDirectory = 0700;
constexpr mode_t kOthersWrite = 0022;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

bool absolute(const std::string& path) { return path.starts_with('/'); }

// Makes a directory where there is none. What is synced below it is to be found after a loss of
// power, and so its name is forced to the disk, unless we may not read the directory above.
Result<void> make_part(const std::string& part, const Disk& disk) {
  struct stat there{};
  if (::stat(part.c_str(), &there) == 0) return {};
  if (disk.make_directory(AT_FDCWD, part, kPrivateDirectory) != 0) {
    return errno == EEXIST ? Result<void>() : fail_errno("make " + part);
  }
  auto synced = sync_name(disk, part);
  if (!synced && synced.error().code == std::errc::permission_denied) return {};
  return synced;
}

}  // namespace

StateEnvironment state_environment() {
  return {.own = variable("PLIMSOLL_STATE_DIR"),
          .xdg = variable("XDG_STATE_HOME"),
          .home = variable("HOME"),
          .caller = ::geteuid() == 0 ? Caller::root : Caller::user};
}

Result<std::string> state_dir(const StateEnvironment& environment) {
  if (!environment.own.empty()) return environment.own;
  if (environment.caller == Caller::root) return std::string("/var/lib/plimsoll");
  if (absolute(environment.xdg)) return environment.xdg + "/plimsoll";
  if (absolute(environment.home)) return environment.home + "/.local/state/plimsoll";
  return fail("there is no directory for the history: neither PLIMSOLL_STATE_DIR nor HOME is set");
}

std::string history_path(const std::string& state_dir) { return state_dir + "/history.db"; }

std::string runs_dir(const std::string& state_dir) { return state_dir + "/runs"; }

Result<void> make_private_dir(const std::string& path, const Disk& disk) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (auto made = make_part(part, disk); !made) return made;
    if (end == std::string::npos) break;
  }
  auto dir = open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
  if (!dir) return pass(std::move(dir));
  struct stat status{};
  if (::fstat(dir->get(), &status) != 0) return fail_errno("examine " + path);
  if (status.st_uid != ::geteuid() && status.st_uid != 0) {
    return fail(path + " belongs to another user (uid " + std::to_string(status.st_uid) + ")");
  }
  // Such a directory is for everybody, as /tmp is, and must stay so.
  if ((status.st_mode & kOthersWrite) != 0 && (status.st_mode & S_ISVTX) != 0) {
    return fail(path + " can be written by others; make a directory in it, and name that one");
  }
  if ((status.st_mode & kOthersWrite) != 0) {
    return fail(path + " can be written by others; `chmod go-w " + path + "` prevents that");
  }
  return {};
}

}  // namespace plimsoll::history
