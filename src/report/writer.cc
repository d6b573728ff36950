#include "report/writer.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "base/check.h"
#include "base/file.h"

namespace plimsoll::report {
namespace {

// Temporary names tried: an earlier process of the same number may have left its own behind.
constexpr int kTemporaryNamesMax = 100;
constexpr mode_t kPermissions = 0600;  // arguments are in it, which are nobody else's business
constexpr mode_t kPermissionBits = 0777;

// The file that a symbolic link stands for, so that the link survives; else `path` itself.
std::string without_links(const std::string& path) {
  char resolved[PATH_MAX];
  return ::realpath(path.c_str(), resolved) ? std::string(resolved) : path;
}

// A link that another user has laid into a directory that all may write to, as /tmp is. The kernel
// follows none for us if it is told so (proc(5), fs.protected_symlinks), but would not see it where
// links are resolved here.
bool is_anothers_link(const std::string& path) {
  struct stat link{}, folder{};
  if (::lstat(path.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) return false;
  if (link.st_uid == ::geteuid()) return false;
  const std::string parent = std::filesystem::path(path).parent_path().string();
  if (::stat(parent.empty() ? "." : parent.c_str(), &folder) != 0) return true;
  constexpr mode_t kForAll = S_ISVTX | S_IWOTH;
  return (folder.st_mode & kForAll) == kForAll && folder.st_uid != link.st_uid;
}

struct Temporary {
  UniqueFd fd;
  std::string path;
};

Result<Temporary> create_temporary(const Disk& disk, const std::string& path) {
  const std::string stem = path + '.' + std::to_string(::getpid());
  for (int i = 0; i < kTemporaryNamesMax; ++i) {
    std::string name = stem + (i == 0 ? "" : "-" + std::to_string(i)) + ".tmp";
    UniqueFd fd(disk.open(AT_FDCWD, name, O_WRONLY | O_CREAT | O_EXCL | O_NOCTTY, kPermissions));
    if (fd) return Temporary{std::move(fd), std::move(name)};
    if (errno != EEXIST) return fail_errno("create " + path);
  }
  return fail(std::errc::file_exists, "create " + stem + ".tmp");
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path, Unfinished unfinished,
                                      Durability durability, const Disk& disk) {
  if (is_anothers_link(path)) {
    return fail(std::errc::permission_denied,
                "write " + path +
                    ": found a symbolic link of another user in a directory that all "
                    "users can write to");
  }
  struct stat there{};
  const bool exists = ::stat(path.c_str(), &there) == 0;
  if (exists && !S_ISREG(there.st_mode)) {
    auto fd = open_at(AT_FDCWD, path, O_WRONLY | O_NOCTTY);
    if (!fd) return pass(std::move(fd));
    return OutputFile(disk, std::move(*fd), path);
  }
  OutputFile file(disk, UniqueFd(), without_links(path));
  auto temporary = create_temporary(disk, file.path_);
  if (!temporary) return pass(std::move(temporary));
  file.fd_ = std::move(temporary->fd);
  file.temporary_ = std::move(temporary->path);
  file.unfinished_ = unfinished;
  file.durability_ = durability;
  const bool is_own = exists && there.st_uid == ::geteuid();
  if (is_own && ::fchmod(file.fd_.get(), there.st_mode & kPermissionBits) != 0) {
    return fail_errno("set permissions of " + file.temporary_);
  }
  return file;
}

OutputFile OutputFile::onto(UniqueFd fd, std::string name) {
  return OutputFile(Disk::kernel(), std::move(fd), std::move(name));
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : disk_(other.disk_),
      fd_(std::move(other.fd_)),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      unfinished_(other.unfinished_),
      durability_(other.durability_),
      size_(other.size_) {}

OutputFile::~OutputFile() {
  if (!temporary_.empty() && !is_kept()) disk_->unlink(AT_FDCWD, temporary_);
}

bool OutputFile::is_kept() const {
  return !temporary_.empty() && unfinished_ == Unfinished::keep && size_ > 0;
}

std::string OutputFile::kept_text() const {
  return is_kept() ? "; what was written is in " + temporary_ : "";
}

Result<void> OutputFile::append(std::string_view text) {
  PLIMSOLL_CHECK(fd_);
  std::string_view rest = text;
  auto wrote = write_front(*disk_, fd_.get(), rest);
  if (wrote) {
    size_ += static_cast<off_t>(text.size());
    return {};
  }
  if (!temporary_.empty()) {
    // Should even this fail, the part of a line that stays is damage that readers expect.
    if (disk_->truncate(fd_.get(), size_) == 0) ::lseek(fd_.get(), size_, SEEK_SET);
  }
  return pass(std::move(wrote), path_);
}

Result<void> OutputFile::finish() {
  PLIMSOLL_CHECK(fd_);
  const bool syncs = durability_ == Durability::synced && !temporary_.empty();
  if (syncs && disk_->sync(fd_.get()) != 0) return fail_errno("force " + path_ + " to the disk");
  // Some file systems report a full disk only here.
  if (::close(fd_.release()) != 0 && errno != EINTR) return fail_errno("close " + path_);
  if (temporary_.empty()) return {};
  if (disk_->rename(AT_FDCWD, temporary_, path_) != 0) return fail_errno("write " + path_);
  temporary_.clear();
  return syncs ? sync_name(*disk_, path_) : Result<void>{};
}

Result<void> write_file(const std::string& path, std::string_view text, Durability durability,
                        const Disk& disk) {
  auto file = OutputFile::create(path, Unfinished::remove, durability, disk);
  if (!file) return pass(std::move(file));
  if (auto wrote = file->append(text); !wrote) return wrote;
  return file->finish();
}

}  // namespace plimsoll::report
