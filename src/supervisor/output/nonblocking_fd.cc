#include "supervisor/output/nonblocking_fd.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>

namespace plimsoll::output {
namespace {

// Tells files from what has readers: only the latter makes one wait.
bool is_file(int fd) {
  struct stat about{};
  return ::fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
}

bool may_reopen(int fd) {
  struct stat about{};
  return ::fstat(fd, &about) == 0 && (S_ISFIFO(about.st_mode) || ::isatty(fd) == 1);
}

UniqueFd reopen(int fd) {
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  return UniqueFd(::open(link.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

bool has_room(int fd) {
  pollfd asked{.fd = fd, .events = POLLOUT, .revents = 0};
  // An error (POLLERR: nobody reads any more) is for the write to find.
  return ::poll(&asked, 1, 0) != 0;
}

}  // namespace

Result<NonblockingFd> NonblockingFd::onto(int fd) {
  if (may_reopen(fd)) {
    if (UniqueFd own = reopen(fd)) return NonblockingFd(std::move(own), Way::at_once);
  }
  UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!copy) return fail_errno("duplicate descriptor " + std::to_string(fd));
  const Way way = is_file(copy.get()) ? Way::at_once : Way::if_polled;
  return NonblockingFd(std::move(copy), way);
}

Result<std::size_t> NonblockingFd::write(std::string_view text) {
  if (way_ == Way::if_polled) {
    if (!has_room(fd_.get())) return std::size_t{0};
    text = text.substr(0, PIPE_BUF);
  }
  ssize_t wrote = 0;
  do {
    wrote = ::write(fd_.get(), text.data(), text.size());
  } while (wrote < 0 && errno == EINTR);
  if (wrote >= 0) return static_cast<std::size_t>(wrote);
  if (errno == EAGAIN) return std::size_t{0};
  return fail_errno("write");
}

}  // namespace plimsoll::output
