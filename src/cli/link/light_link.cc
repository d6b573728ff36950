#include "cli/link/light_link.h"

#include <sys/socket.h>

#include <cstdlib>
#include <utility>

#include "cli/link/daemon_link.h"
#include "supervisor/light/packet.h"

namespace plimsoll::cli {

std::optional<LightLink> LightLink::to(const std::string& socket) {
  auto fd = connect_to(socket, SOCK_SEQPACKET);
  return fd ? std::optional(LightLink(socket, std::move(*fd))) : std::nullopt;
}

std::optional<LightLink> LightLink::of_run() {
  const char* socket = std::getenv(supervisor::kLightVariable);
  return socket != nullptr && *socket != '\0' ? to(socket) : std::nullopt;
}

std::optional<LightLink> LightLink::of_daemon() {
  for (const std::string& socket : daemon_sockets()) {
    if (auto link = to(supervisor::light_socket_of(socket))) return link;
  }
  return std::nullopt;
}

bool LightLink::say(const supervisor::LightRequest& request, int fd) {
  return supervisor::send_packet(fd_.get(), supervisor::to_frame(request), fd).has_value();
}

std::optional<supervisor::LightNews> LightLink::hear() {
  const auto packet = supervisor::receive_packet(fd_.get(), supervisor::kLightFrameMax);
  if (!packet || !*packet || (*packet)->is_cut) return std::nullopt;
  auto news = supervisor::parse_light_news((*packet)->bytes);
  return news ? std::optional(std::move(*news)) : std::nullopt;
}

}  // namespace plimsoll::cli
