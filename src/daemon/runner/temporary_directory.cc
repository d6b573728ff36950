#include "daemon/runner/temporary_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/may_wait.h"
#include "base/unique_fd.h"
#include "daemon/runner/quoted.h"
#include "daemon/runner/tree_removal.h"

namespace plimsoll::daemon {
namespace {

constexpr int kOpenItself = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr mode_t kModeBits = 07777;

// An action that is its owner may have closed it.
void open_for_owner(const std::string& path) {
  struct stat about{};
  if (::lstat(path.c_str(), &about) != 0 || !S_ISDIR(about.st_mode)) return;
  if ((about.st_mode & S_IRWXU) == S_IRWXU) return;
  [[maybe_unused]] const int opened = ::fchmodat(
      AT_FDCWD, path.c_str(), (about.st_mode & kModeBits) | S_IRWXU, AT_SYMLINK_NOFOLLOW);
}

bool is_removed(const std::string& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return true;
  if (errno != EISDIR && errno != EPERM) return false;
  return ::rmdir(path.c_str()) == 0;
}

}  // namespace

TemporaryDirectory::TemporaryDirectory(std::string path) : path_(std::move(path)) {
  may_wait("TemporaryDirectory");
  struct stat about{};
  if (::lstat(path_.c_str(), &about) != 0 || !S_ISDIR(about.st_mode)) return;
  form_ = {.mode = about.st_mode & kModeBits, .uid = about.st_uid, .gid = about.st_gid};
}

Status TemporaryDirectory::clean(FileTurn& turn) const {
  may_wait("TemporaryDirectory::clean");
  open_for_owner(path_);
  UniqueFd directory(::open(path_.c_str(), kOpenItself));
  const TreeRemoval removal =
      directory ? remove_contents(std::move(directory), turn) : TreeRemoval{.number = errno};
  if (removal.number == 0) return {};
  const std::string what = removal.path.empty() ? "" : go_quoted(removal.path) + ": ";
  const std::string result = removal.number == ECANCELED ? "" : replace(turn);
  return {Code::internal, "Failed to clean directory " + go_quoted(path_) + ": " + what +
                              errno_text(removal.number) + result};
}

// What has become of it, to follow what was wrong.
std::string TemporaryDirectory::replace(FileTurn& turn) const {
  if (!form_) return {};
  struct stat about{};
  if (::lstat(path_.c_str(), &about) == 0) {
    const auto aside = set_aside(turn);
    if (!aside) return "; it could not be renamed, and the next action finds what is left in it";
    const int failed = make();
    return "; it was renamed to " + go_quoted(*aside) +
           (failed == 0 ? "" : ", and could not be created again: " + errno_text(failed));
  }
  const int failed = make();
  return failed == 0 ? "; it was created again"
                     : "; it could not be created again: " + errno_text(failed);
}

std::optional<std::string> TemporaryDirectory::set_aside(FileTurn& turn) const {
  for (unsigned number = 1; number <= kAsideMax && turn.step(); ++number) {
    std::string aside = path_ + ".unclean-" + std::to_string(number);
    const int failed =
        ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, aside.c_str(), RENAME_NOREPLACE);
    if (failed == 0) return aside;
    if (errno != EEXIST) return std::nullopt;
  }
  return std::nullopt;
}

// The errno. Made for its owner alone first: nobody is to come in before it is his.
int TemporaryDirectory::make() const {
  if (::mkdir(path_.c_str(), S_IRWXU) != 0) return errno;
  const UniqueFd made(::open(path_.c_str(), kOpenItself));
  if (!made) return errno;
  if (::fchown(made.get(), form_->uid, form_->gid) != 0) return errno;
  return ::fchmod(made.get(), form_->mode) == 0 ? 0 : errno;
}

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
