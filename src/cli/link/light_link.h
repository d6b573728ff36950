#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "supervisor/light/light_protocol.h"

namespace plimsoll::cli {

// A connection to whoever governs commands on this machine, for one command.
class LightLink {
 public:
  // That of the daemon (daemon_sockets()); nothing if nobody is there who answers.
  static std::optional<LightLink> find();

  // With a copy of `fd` unless it is negative. False: the other side is gone.
  bool say(const supervisor::LightRequest& request, int fd = -1);
  // Waits for what it says; nothing: it is gone, or says what cannot be understood.
  std::optional<supervisor::LightNews> hear();

  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  explicit LightLink(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace plimsoll::cli
