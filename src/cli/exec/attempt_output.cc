#include "cli/exec/attempt_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>
#include <utility>

#include "base/file.h"

namespace plimsoll::cli {
namespace {

constexpr std::size_t kPieceMax = 65'536;

bool are_same(int first, int second) {
  struct stat one{}, other{};
  return ::fstat(first, &one) == 0 && ::fstat(second, &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

// A descriptor that the command would have, and that is no terminal.
bool is_kept(int fd) { return ::fcntl(fd, F_GETFD) >= 0 && ::isatty(fd) == 0; }

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = write_again(fd, bytes.data(), bytes.size());
    if (wrote < 0) return;  // as a command that does not look
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

}  // namespace

Result<AttemptOutput> AttemptOutput::open() {
  AttemptOutput output;
  for (std::size_t stream = 0; stream < 2; ++stream) {
    const int own = stream == 0 ? STDOUT_FILENO : STDERR_FILENO;
    if (!is_kept(own)) continue;
    // What goes to one file stays in one order.
    if (stream == 1 && output.outer_[0] && are_same(STDOUT_FILENO, STDERR_FILENO)) {
      output.outer_[1] = UniqueFd(::fcntl(output.outer_[0].get(), F_DUPFD_CLOEXEC, 0));
      if (!output.outer_[1]) return fail_errno("copy a pipe");
      continue;
    }
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("make a pipe");
    output.inner_.at(stream) = UniqueFd(ends[0]);
    output.outer_.at(stream) = UniqueFd(ends[1]);
    if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return fail_errno("set up a pipe");
  }
  return output;
}

bool AttemptOutput::receive() {
  const bool out = receive_from(0);
  const bool err = receive_from(1);
  return out || err;
}

// Others may go on writing: no more than a pipe has room for is what the command has left.
void AttemptOutput::receive_rest() {
  constexpr std::size_t kPipeMax = 1 << 20;
  for (std::size_t i = 0; i < kPipeMax / kPieceMax && receive(); ++i) continue;
}

// Whether there may be more.
bool AttemptOutput::receive_from(std::size_t stream) {
  UniqueFd& source = inner_.at(stream);
  if (!source) return false;
  std::string bytes(kPieceMax, '\0');
  const ssize_t got = ::read(source.get(), bytes.data(), bytes.size());
  if (got < 0) return errno == EINTR;
  if (got == 0) {
    source = UniqueFd();
    return false;
  }
  bytes.resize(static_cast<std::size_t>(got));
  take({.stream = stream, .bytes = std::move(bytes)});
  return true;
}

void AttemptOutput::take(Piece piece) {
  has_any_ = true;
  kept_bytes_ += piece.bytes.size();
  kept_.push_back(std::move(piece));
  if (passes_on_ || kept_bytes_ > kKeptMax) pass_on();
}

void AttemptOutput::pass_on() {
  passes_on_ = true;
  for (const Piece& piece : std::exchange(kept_, {})) {
    write_all(piece.stream == 0 ? STDOUT_FILENO : STDERR_FILENO, piece.bytes);
  }
  kept_bytes_ = 0;
}

}  // namespace plimsoll::cli
