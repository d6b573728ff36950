#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace plimsoll::cli {

// Where a daemon may listen that this user would use: that of $PLIMSOLL_SOCKET if it is set, else
// this user's own, then root's.
[[nodiscard]] std::vector<std::string> daemon_sockets();

// Connects a socket of this type (SOCK_STREAM, ...); an error if whoever listens there is neither
// root nor this user.
Result<UniqueFd> connect_to(const std::string& path, int type);

// A connection to the daemon of this machine, through its socket for people at a shell. What it
// says comes as lines, and after some of them as bytes.
class DaemonLink {
 public:
  // That of $PLIMSOLL_SOCKET if it is set, else this user's own, else root's; nothing if none
  // listens. Only one of root or of this user is believed.
  static Result<std::optional<DaemonLink>> find();
  // The same; that none listens is an error.
  static Result<DaemonLink> connect();

  Result<void> say(std::string_view text);
  // Without its newline; an error where the daemon has closed the connection. A signal that has no
  // SA_RESTART gives std::errc::interrupted, and nothing is lost.
  Result<std::string> hear_line();
  Result<std::string> hear_bytes(std::size_t count);

  [[nodiscard]] int fd() const { return fd_.get(); }
  UniqueFd release() && { return std::move(fd_); }

 private:
  explicit DaemonLink(UniqueFd fd) : fd_(std::move(fd)) {}
  Result<void> hear();

  UniqueFd fd_;
  std::string heard_;
};

}  // namespace plimsoll::cli
