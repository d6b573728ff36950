#include "rpc/runner_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>

#include "base/unique_fd.h"

namespace plimsoll::rpc {
namespace {

constexpr int kEnterDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
// Deeper trees than any build makes; each level holds a descriptor.
constexpr unsigned kDepthMax = 512;

struct CloseListing {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// The errno, 0 if all went well.
int remove_children(int directory, unsigned depth);

int remove_directory(int parent, const char* name, unsigned depth) {
  if (depth >= kDepthMax) return ENAMETOOLONG;
  // A job may have taken its own rights away. Somebody may have put a link in its place by now.
  [[maybe_unused]] const int opened = ::fchmodat(parent, name, S_IRWXU, AT_SYMLINK_NOFOLLOW);
  const UniqueFd directory(::openat(parent, name, kEnterDirectory));
  if (!directory) return errno;
  if (const int failed = remove_children(directory.get(), depth + 1)) return failed;
  return ::unlinkat(parent, name, AT_REMOVEDIR) == 0 ? 0 : errno;
}

int remove_entry(int parent, const char* name, unsigned depth) {
  if (::unlinkat(parent, name, 0) == 0 || errno == ENOENT) return 0;
  if (errno != EISDIR && errno != EPERM && errno != EBUSY) return errno;
  // Something may be mounted on it, over other mounts.
  const std::string path = "/proc/self/fd/" + std::to_string(parent) + "/" + name;
  while (::umount2(path.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) continue;
  if (::unlinkat(parent, name, 0) == 0) return 0;
  return remove_directory(parent, name, depth);
}

int remove_children(int directory, unsigned depth) {
  const int own = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own < 0) return errno;
  const std::unique_ptr<DIR, CloseListing> listing(::fdopendir(own));
  if (!listing) return errno;
  while (const dirent* entry = ::readdir(listing.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (const int failed = remove_entry(directory, name.c_str(), depth)) return failed;
  }
  return 0;
}

bool is_removed(const std::string& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return true;
  if (errno != EISDIR && errno != EPERM) return false;
  return ::rmdir(path.c_str()) == 0;
}

}  // namespace

Status check_paths_exist(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    struct stat about{};
    if (::stat(path.c_str(), &about) == 0) continue;
    return {Code::unavailable, "Path \"" + path + "\": " + errno_text(errno)};
  }
  return {};
}

Status link_temporary_directories(const std::vector<std::string>& links,
                                  const std::string& target) {
  for (auto link = links.rbegin(); link != links.rend(); ++link) {
    if (!is_removed(*link)) {
      return {Code::internal,
              "Failed to remove symbolic link \"" + *link + "\": " + errno_text(errno)};
    }
    if (::symlink(target.c_str(), link->c_str()) != 0) {
      return {Code::internal,
              "Failed to create symbolic link \"" + *link + "\": " + errno_text(errno)};
    }
  }
  return {};
}

Status clean_directory(const std::string& path) {
  const UniqueFd directory(::open(path.c_str(), kEnterDirectory));
  const int failed = directory ? remove_children(directory.get(), 0) : errno;
  if (failed == 0) return {};
  return {Code::internal, "Failed to clean directory \"" + path + "\": " + errno_text(failed)};
}

}  // namespace plimsoll::rpc
