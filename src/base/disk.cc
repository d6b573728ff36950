#include "base/disk.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace plimsoll {

const Disk& Disk::kernel() {
  static const Disk disk;
  return disk;
}

int Disk::open(int dir, const std::string& name, int flags, mode_t mode) const {
  return ::openat(dir, name.c_str(), flags | O_CLOEXEC, mode);
}

int Disk::make_directory(int dir, const std::string& name, mode_t mode) const {
  return ::mkdirat(dir, name.c_str(), mode);
}

ssize_t Disk::write(int fd, const void* data, std::size_t size) const {
  return ::write(fd, data, size);
}

int Disk::truncate(int fd, off_t size) const { return ::ftruncate(fd, size); }

int Disk::rename(int dir, const std::string& from, const std::string& to) const {
  return ::renameat(dir, from.c_str(), dir, to.c_str());
}

int Disk::link(int dir, const std::string& from, const std::string& to) const {
  return ::linkat(dir, from.c_str(), dir, to.c_str(), 0);
}

int Disk::unlink(int dir, const std::string& name) const {
  return ::unlinkat(dir, name.c_str(), 0);
}

int Disk::remove_directory(int dir, const std::string& name) const {
  return ::unlinkat(dir, name.c_str(), AT_REMOVEDIR);
}

int Disk::sync(int fd) const {
  int done = 0;
  do {
    done = ::fsync(fd);
  } while (done != 0 && errno == EINTR);
  return done != 0 && (errno == EINVAL || errno == ENOSYS) ? 0 : done;
}

Result<void> write_front(const Disk& disk, int fd, std::string_view& rest) {
  while (!rest.empty()) {
    const ssize_t wrote = disk.write(fd, rest.data(), rest.size());
    if (wrote >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (errno == EAGAIN) {
      pollfd ready{.fd = fd, .events = POLLOUT, .revents = 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return fail_errno("write");
    }
  }
  return {};
}

Result<void> sync_name(const Disk& disk, const std::string& path) {
  const std::size_t slash = path.rfind('/');
  std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const UniqueFd fd(disk.open(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY, 0));
  if (!fd) return fail_errno("open " + directory);
  if (disk.sync(fd.get()) != 0) return fail_errno("force " + path + " to the disk");
  return {};
}

}  // namespace plimsoll
