#include "supervisor/light/light_server.h"

#include <sys/epoll.h>

#include <algorithm>
#include <string>
#include <utility>

#include "supervisor/light/light_client.h"

namespace plimsoll::supervisor {
namespace {

constexpr Duration kSweepGap = std::chrono::seconds(5);

void tell_busy(int connection, const std::string& reason) {
  [[maybe_unused]] const auto told = send_packet(
      connection, to_frame(LightNews(LightRefused{.reason = reason, .busy = true})), -1);
}

}  // namespace

LightServer::LightServer(loop::Loop& loop, ClientJobs& jobs)
    : loop_(loop), jobs_(jobs), sweep_timer_(loop_.timer([this] { sweep(); })) {
  sweep_timer_.set(loop::now() + kSweepGap);
}

LightServer::~LightServer() { let_go(); }

Result<void> LightServer::listen(const PeerListenerConfig& config) {
  ConnectionTaker& self = *this;
  PeerListenerConfig packets = config;
  packets.kind = loop::SocketKind::packets;
  auto listener = PeerListener::start(loop_, packets, self);
  if (!listener) return pass(std::move(listener));
  listener_ = std::move(*listener);
  return {};
}

void LightServer::let_go() {
  for (const auto& client : clients_) quota_.give_back(client->user());
  clients_.clear();
}

void LightServer::turn_away(int connection) {
  tell_busy(connection, "too many commands of this user come one after the other");
}

void LightServer::take(UniqueFd connection, const Peer& peer) {
  const policy::Tenant user = tenant_of(peer);
  if (const auto room = quota_.check(user); !room) {
    tell_busy(connection.get(), room.error().what);
    return closer_.close(user, std::move(connection));
  }
  auto client = std::make_unique<Client>(jobs_, closer_, std::move(connection), peer, loop::now());
  auto watch =
      loop_.watch(client->fd(), EPOLLIN,
                  [this, known = client.get()](std::uint32_t events) { serve(*known, events); });
  if (!watch) return;
  client->watch(std::move(*watch));
  quota_.take(user);
  clients_.push_back(std::move(client));
}

// A client may be over by what happened to another; those are found by the next sweep.
void LightServer::serve(Client& client, std::uint32_t events) {
  client.serve(events);
  if (client.is_over(loop::now())) sweep();
}

void LightServer::sweep() {
  const Instant now = loop::now();
  const auto is_over = [now](const auto& client) { return client->is_over(now); };
  // One after the other: what becomes of the first may end others.
  for (auto over = std::find_if(clients_.begin(), clients_.end(), is_over); over != clients_.end();
       over = std::find_if(clients_.begin(), clients_.end(), is_over)) {
    quota_.give_back((*over)->user());
    const std::unique_ptr<Client> gone = std::move(*over);
    clients_.erase(over);
  }
  sweep_timer_.set(now + kSweepGap);
}

}  // namespace plimsoll::supervisor
