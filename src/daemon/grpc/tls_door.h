#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace plimsoll::daemon {

class TlsConnections;

// Accepts connections over TCP, counts them and hands them on: on a thread of its own, so that
// strangers cost the daemon's loop nothing.
class TlsDoor {
 public:
  // Listens at HOST:PORT when it returns; 0 is any port that is free. `accepted` is called on the
  // door's thread. May ask for the address of a name, which blocks.
  static Result<std::unique_ptr<TlsDoor>> open(const std::string& host, std::uint16_t port,
                                               std::shared_ptr<TlsConnections> connections,
                                               std::function<void(UniqueFd)> accepted);
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
