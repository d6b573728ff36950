#include "cli/link/daemon_link.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "supervisor/control/job_protocol.h"
#include "supervisor/sharing/daemon_socket.h"

namespace plimsoll::cli {
namespace {

// What a daemon says in one line at most, a report of a job included.
constexpr std::size_t kLineBytesMax = supervisor::kAnswerBytesMax;

}  // namespace

std::vector<std::string> daemon_sockets() {
  const char* told = std::getenv("PLIMSOLL_SOCKET");
  if (told != nullptr && *told != '\0') return {told};
  std::vector<std::string> sockets = {supervisor::default_daemon_socket()};
  if (sockets.front() != supervisor::kRootDaemonSocket &&
      std::getenv("PLIMSOLL_RUNTIME_DIR") == nullptr)
    sockets.emplace_back(supervisor::kRootDaemonSocket);
  return sockets;
}

Result<UniqueFd> connect_to(const std::string& path, int type) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return fail("the path " + path + " is too long");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  UniqueFd fd(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  if (!fd) return fail_errno("make a socket");
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return fail_errno("connect to " + path);
  }
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) {
    return fail_errno("look up the owner of " + path);
  }
  if (who.uid == 0 || who.uid == ::geteuid()) return fd;
  return fail(path + " belongs to uid " + std::to_string(who.uid) + ", expected root or this user");
}

Result<std::optional<DaemonLink>> DaemonLink::find() {
  for (const std::string& socket : daemon_sockets()) {
    auto fd = connect_to(supervisor::job_socket_of(socket), SOCK_STREAM);
    if (fd) return std::optional(DaemonLink(std::move(*fd)));
    const std::errc code = fd.error().code;
    if (code != std::errc::no_such_file_or_directory && code != std::errc::connection_refused) {
      return pass(std::move(fd));
    }
  }
  return std::optional<DaemonLink>();
}

Result<DaemonLink> DaemonLink::connect() {
  auto found = find();
  if (!found) return pass(std::move(found));
  if (*found) return std::move(**found);
  std::string tried;
  for (const std::string& socket : daemon_sockets()) {
    tried += (tried.empty() ? "" : " or ") + socket;
  }
  return fail("no daemon listens at " + tried + "; `plimsoll serve` starts one");
}

Result<void> DaemonLink::say(std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    // A daemon that has refused and closed has said why.
    if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) return {};
    if (sent < 0) return fail_errno("send the request to the daemon");
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Result<void> DaemonLink::hear() {
  std::array<char, 65536> buffer;
  const ssize_t got = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
  if (got < 0 && errno != ECONNRESET) return fail_errno("receive the answer of the daemon");
  if (got <= 0) {
    return fail("the daemon closed the connection");
  }
  heard_.append(buffer.data(), static_cast<std::size_t>(got));
  return {};
}

Result<std::string> DaemonLink::hear_line() {
  std::size_t end = 0;
  while ((end = heard_.find('\n')) == std::string::npos) {
    if (heard_.size() > kLineBytesMax) return fail("the daemon's answer is too long");
    if (auto more = hear(); !more) return pass(std::move(more));
  }
  std::string line = heard_.substr(0, end);
  heard_.erase(0, end + 1);
  return line;
}

Result<std::string> DaemonLink::hear_bytes(std::size_t count) {
  while (heard_.size() < count) {
    if (auto more = hear(); !more) {
      if (more.error().code == std::errc::interrupted) continue;
      return pass(std::move(more));
    }
  }
  std::string bytes = heard_.substr(0, count);
  heard_.erase(0, count);
  return bytes;
}

}  // namespace plimsoll::cli
