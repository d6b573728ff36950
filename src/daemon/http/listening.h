#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"

// The places at which the daemon answers over HTTP, and who comes there.
namespace plimsoll::http {

// From a connection's first moment to its last byte. Prometheus gives up after as long.
inline constexpr Duration kRequestMax = std::chrono::seconds(10);
// So long a request waits for its site to answer: then 503.
inline constexpr Duration kPatience = std::chrono::seconds(2);
// A stream ends whose client has not taken a piece by then.
inline constexpr Duration kPieceMax = std::chrono::seconds(10);

struct ServerConfig {
  std::string purpose{};  // "metrics", as errors have it
  // Over TCP: a name or a number, and a port; 0 is any that is free.
  std::string host{};
  std::uint16_t port = 0;
  // Or a Unix socket: an absolute path, and the mode that says who may connect.
  std::string socket{};
  mode_t socket_mode = 0600;
  // Names by which it may be asked for over TCP, besides localhost, `host` and its addresses.
  std::vector<std::string> names{};
  Duration request_max = kRequestMax;
  Duration patience = kPatience;
  Duration piece_max = kPieceMax;
};

// A socket that listens and does not block. The path of a Unix socket is removed with it.
class Listening {
 public:
  // May ask for the address of a name, which blocks. An error says where.
  static Result<Listening> open(const ServerConfig& config);
  Listening(Listening&& other) noexcept = default;
  Listening& operator=(Listening&&) = delete;
  ~Listening();

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] std::uint16_t port() const { return port_; }  // 0: a Unix socket
  [[nodiscard]] bool is_local() const { return port_ == 0; }

 private:
  Listening() = default;
  UniqueFd fd_;
  std::uint16_t port_ = 0;
  std::string path_;
};

// Who is at the other end, so that connections of one client can be counted: a user of this
// machine, or the address of another. Empty: anybody of this machine, where the kernel tells no
// more.
[[nodiscard]] std::string client_of(int connection);

// The address that a client has connected to, as a number; empty: none.
[[nodiscard]] std::string own_address_of(int connection);

}  // namespace plimsoll::http
