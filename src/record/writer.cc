#include "record/writer.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <utility>

#include "base/check.h"
#include "base/file.h"

namespace plimsoll::record {
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

struct Temporary {
  UniqueFd fd;
  std::string path;
};

Result<Temporary> create_temporary(const std::string& path) {
  const std::string stem = path + '.' + std::to_string(::getpid());
  for (int i = 0; i < kTemporaryNamesMax; ++i) {
    std::string name = stem + (i == 0 ? "" : "-" + std::to_string(i)) + ".tmp";
    UniqueFd fd(
        ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, kPermissions));
    if (fd) return Temporary{std::move(fd), std::move(name)};
    if (errno != EEXIST) return fail_errno("create " + name);
  }
  return fail(std::errc::file_exists, "create " + stem + ".tmp");
}

Result<void> write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    if (wrote >= 0) {
      text.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (errno == EAGAIN) {  // standard output may be shared with a program that set this
      pollfd ready{.fd = fd, .events = POLLOUT, .revents = 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return fail_errno("write");
    }
  }
  return {};
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path, Unfinished unfinished) {
  struct stat there{};
  const bool exists = ::stat(path.c_str(), &there) == 0;
  if (exists && !S_ISREG(there.st_mode)) {
    auto fd = open_at(AT_FDCWD, path, O_WRONLY | O_NOCTTY);
    if (!fd) return pass(std::move(fd));
    return OutputFile(std::move(*fd), path);
  }
  OutputFile file(UniqueFd(), without_links(path));
  auto temporary = create_temporary(file.path_);
  if (!temporary) return pass(std::move(temporary));
  file.fd_ = std::move(temporary->fd);
  file.temporary_ = std::move(temporary->path);
  file.unfinished_ = unfinished;
  if (exists && ::fchmod(file.fd_.get(), there.st_mode & kPermissionBits) != 0) {
    return fail_errno("set permissions of " + file.temporary_);
  }
  return file;
}

OutputFile OutputFile::onto(UniqueFd fd, std::string name) {
  return OutputFile(std::move(fd), std::move(name));
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : fd_(std::move(other.fd_)),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      unfinished_(other.unfinished_),
      size_(other.size_) {}

OutputFile::~OutputFile() {
  if (!temporary_.empty() && unfinished_ == Unfinished::remove) ::unlink(temporary_.c_str());
}

Result<void> OutputFile::append(std::string_view text) {
  PLIMSOLL_CHECK(fd_);
  auto wrote = write_all(fd_.get(), text);
  if (wrote) {
    size_ += static_cast<off_t>(text.size());
    return {};
  }
  if (!temporary_.empty()) {
    // Should even this fail, the part of a line that stays is damage that readers expect.
    if (::ftruncate(fd_.get(), size_) == 0) ::lseek(fd_.get(), size_, SEEK_SET);
  }
  return pass(std::move(wrote), temporary_.empty() ? path_ : temporary_);
}

Result<void> OutputFile::finish() {
  PLIMSOLL_CHECK(fd_);
  // Some file systems report a full disk only here.
  if (::close(fd_.release()) != 0 && errno != EINTR) return fail_errno("close " + path_);
  if (temporary_.empty()) return {};
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return fail_errno("rename " + temporary_ + " to " + path_);
  }
  temporary_.clear();
  return {};
}

Result<void> write_file(const std::string& path, std::string_view text) {
  auto file = OutputFile::create(path, Unfinished::remove);
  if (!file) return pass(std::move(file));
  if (auto wrote = file->append(text); !wrote) return wrote;
  return file->finish();
}

}  // namespace plimsoll::record
