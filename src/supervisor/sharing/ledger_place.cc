#include "supervisor/sharing/ledger_place.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "supervisor/sharing/daemon_socket.h"
#include "supervisor/sharing/runtime_dir.h"

namespace plimsoll::supervisor {
namespace {

constexpr mode_t kOwnerOnly = 0700;
// Sticky, so that nobody removes another's entry; the group goes on to the entries.
constexpr mode_t kForGroup = 03770;

std::string shared_ledger(const std::string& socket) { return socket + ".ledger"; }

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

// The socket of the daemon that this user would join; empty: there can't be one.
std::string daemon_socket() {
  if (is_set("PLIMSOLL_SOCKET")) return std::getenv("PLIMSOLL_SOCKET");
  return is_set("PLIMSOLL_RUNTIME_DIR") ? std::string() : std::string(kRootDaemonSocket);
}

Result<UniqueFd> open_shared_ledger(const std::string& socket) {
  const std::string path = shared_ledger(socket);
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return fail_errno("open " + path);
  struct stat about{};
  if (::fstat(fd.get(), &about) != 0) return fail_errno("examine " + path);
  const bool trusted = about.st_uid == 0 || about.st_uid == ::geteuid();
  if (!trusted || (about.st_mode & S_IWOTH) != 0) {
    return fail(path +
                " is not a ledger of the daemon: expected a directory that belongs to root and "
                "that other users cannot write");
  }
  if (::faccessat(fd.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) return fail_errno("write " + path);
  return fd;
}

}  // namespace

Result<UniqueFd> open_own_ledger() {
  const std::string above = runtime_dir();
  if (auto made = make_runtime_dir(above); !made) return made;
  return make_runtime_dir(above + "/ledger");
}

Result<UniqueFd> make_shared_ledger(const std::string& socket, gid_t group) {
  const std::string path = shared_ledger(socket);
  if (::mkdir(path.c_str(), kOwnerOnly) != 0 && errno != EEXIST) return fail_errno("make " + path);
  auto fd = open_shared_ledger(socket);
  if (!fd) return fd;
  if (::fchown(fd->get(), static_cast<uid_t>(-1), group) != 0 ||
      ::fchmod(fd->get(), kForGroup) != 0) {
    return fail_errno("open " + path + " to the group");
  }
  return fd;
}

Result<UniqueFd> open_ledger() {
  const std::string socket = daemon_socket();
  if (!socket.empty()) {
    if (auto shared = open_shared_ledger(socket)) return shared;
  }
  return open_own_ledger();
}

}  // namespace plimsoll::supervisor
