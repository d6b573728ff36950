#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "supervisor/light/light_protocol.h"

namespace plimsoll::cli {

// A connection to whoever governs commands on this machine, for one command.
class LightLink {
 public:
  // That of the run that this process is in a job of (supervisor::kLightVariable), if there is one
  // and it answers.
  static std::optional<LightLink> of_run();
  // That of the daemon (daemon_sockets()); nothing if nobody is there who answers.
  static std::optional<LightLink> of_daemon();
  // Another connection to the same; nothing: nobody is there any more.
  [[nodiscard]] std::optional<LightLink> another() const { return to(socket_); }

  // With a copy of `fd` unless it is negative. False: the other side is gone.
  bool say(const supervisor::LightRequest& request, int fd = -1);
  // Waits for what it says; nothing: it is gone, or says what cannot be understood.
  std::optional<supervisor::LightNews> hear();

  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  LightLink(std::string socket, UniqueFd fd) : socket_(std::move(socket)), fd_(std::move(fd)) {}
  static std::optional<LightLink> to(const std::string& socket);

  std::string socket_;
  UniqueFd fd_;
};

}  // namespace plimsoll::cli
