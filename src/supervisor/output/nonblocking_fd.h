#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace plimsoll::output {

// Where the program itself writes: its stdout or its stderr. Never blocks for a reader; it may for
// a disk.
//
// The flags of a descriptor that came from elsewhere belong to everybody who shares it, so they are
// left as they are. A pipe or a terminal is opened anew through /proc, which gives a description
// of our own that does not block. Where that is refused, poll(2) is asked before each write of a
// size for which a pipe then has room.
class NonblockingFd {
 public:
  // Duplicates `fd`, which stays the caller's.
  static Result<NonblockingFd> onto(int fd);

  // Returns how much was written; 0 when there is no room, then wait for POLLOUT. Signals that a
  // write can raise (SIGPIPE, SIGXFSZ, SIGTTOU) are to be blocked in the calling thread.
  Result<std::size_t> write(std::string_view text);

  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  enum class Way : std::uint8_t { at_once, if_polled };
  NonblockingFd(UniqueFd fd, Way way) : fd_(std::move(fd)), way_(way) {}
  UniqueFd fd_;
  Way way_;
};

}  // namespace plimsoll::output
