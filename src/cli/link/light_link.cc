#include "cli/link/light_link.h"

#include <sys/socket.h>

#include <utility>

#include "cli/link/daemon_link.h"
#include "supervisor/light/packet.h"

namespace plimsoll::cli {

std::optional<LightLink> LightLink::find() {
  for (const std::string& socket : daemon_sockets()) {
    if (auto fd = connect_to(supervisor::light_socket_of(socket), SOCK_SEQPACKET)) {
      return LightLink(std::move(*fd));
    }
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
