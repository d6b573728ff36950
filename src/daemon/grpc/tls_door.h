#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace plimsoll::daemon {

class TlsConnections;
class UserServers;

// Accepts connections over TCP, counts them and hands them to the server for TLS: on a thread of
// its own, so that strangers cost the daemon's loop nothing.
class TlsDoor {
 public:
  // Listens at HOST:PORT when it returns; 0 is any port that is free. `servers` serve TLS by then
  // and must outlive this. May ask for the address of a name, which blocks.
  static Result<std::unique_ptr<TlsDoor>> open(const std::string& host, std::uint16_t port,
                                               std::shared_ptr<TlsConnections> connections,
                                               UserServers& servers);
  TlsDoor(const TlsDoor&) = delete;
  TlsDoor& operator=(const TlsDoor&) = delete;
  // Nothing more is accepted. Waits for the thread's turn.
  ~TlsDoor();

  [[nodiscard]] std::uint16_t port() const;

 private:
  class Doorkeeper;
  TlsDoor() = default;
  std::unique_ptr<Doorkeeper> doorkeeper_;
};

}  // namespace plimsoll::daemon
