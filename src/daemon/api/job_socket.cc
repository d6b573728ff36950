#include "daemon/api/job_socket.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>

#include "daemon/api/job_socket_client.h"

namespace plimsoll::daemon {
namespace {

constexpr Duration kIdleLook = std::chrono::seconds(5);

void refuse(int connection, const std::string& why) {
  const std::string refusal =
      supervisor::to_message(supervisor::JobNews(supervisor::JobRefused{why}));
  [[maybe_unused]] const auto told =
      ::send(connection, refusal.data(), refusal.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

JobSocket::JobSocket(const JobSocketDeps& deps)
    : deps_(deps),
      turn_timer_(deps_.loop.timer([this] { serve_next(); })),
      idle_timer_(deps_.loop.timer([this] { drop_idle(); })) {
  idle_timer_.set(loop::now() + kIdleLook);
}

JobSocket::~JobSocket() = default;

Result<void> JobSocket::listen(const supervisor::PeerListenerConfig& config) {
  auto listener = supervisor::PeerListener::start(deps_.loop, config, *this);
  if (!listener) return pass(std::move(listener));
  listener_ = std::move(*listener);
  return {};
}

void JobSocket::turn_away(int connection) {
  refuse(connection, "too many connections of this user come one after the other; try again");
}

// Root is always heard.
void JobSocket::take(UniqueFd connection, const supervisor::Peer& peer) {
  const auto of_user = std::count_if(clients_.begin(), clients_.end(),
                                     [&](const auto& client) { return client->uid() == peer.uid; });
  const bool is_full =
      clients_.size() >= kClientsMax || static_cast<std::size_t>(of_user) >= kOfUserMax;
  if (is_full && peer.uid != 0) {
    refuse(connection.get(), "found too many connections, expected at most " +
                                 std::to_string(kOfUserMax) + " of one user");
    return closer_.close(supervisor::tenant_of(peer), std::move(connection));
  }
  auto client = std::make_unique<Client>(deps_, closer_, std::move(connection), peer);
  auto watch = deps_.loop.watch(
      client->fd(), EPOLLIN,
      [this, known = client.get()](std::uint32_t events) { on_ready(*known, events); });
  if (!watch) return;
  client->watch(std::move(*watch));
  clients_.push_back(std::move(client));
}

// A readiness is only noted: what it takes to serve it comes in its user's turn.
void JobSocket::on_ready(Client& client, std::uint32_t events) {
  if ((events & (EPOLLHUP | EPOLLERR)) != 0) return drop(client);
  if (!client.become_ready(events)) return;
  turn_timer_.set(loop::now());  // also if others wait for their part
  turns_.add(client.uid(), &client);
}

void JobSocket::serve_next() {
  Instant soonest = Instant::max();
  const auto next = turns_.next([&](std::uint32_t uid) {
    const Instant due = deps_.gate.next_beside(supervisor::tenant_of({.uid = uid}));
    soonest = std::min(soonest, due);
    return due <= loop::now();
  });
  // Those who wait have gone meanwhile, or have had their part of the loop's time.
  if (!next) return turns_.is_empty() ? turn_timer_.off() : turn_timer_.set(soonest);
  Client& client = **next;
  const policy::Tenant user = supervisor::tenant_of({.uid = client.uid()});
  client.set_arriving_elsewhere(arriving_of(client.uid()) - client.arriving());
  const Duration before = loop::cpu_time();
  if (!client.step()) drop(client);
  deps_.gate.spent_beside(user, loop::cpu_time() - before);
  if (!turns_.is_empty()) turn_timer_.set(loop::now());
}

std::size_t JobSocket::arriving_of(std::uint32_t uid) const {
  std::size_t bytes = 0;
  for (const auto& client : clients_) {
    if (client->uid() == uid) bytes += client->arriving();
  }
  return bytes;
}

bool JobSocket::has_to_tell() const {
  return std::ranges::any_of(clients_, [](const auto& client) { return client->has_to_tell(); });
}

void JobSocket::drop(Client& client) {
  const auto place = std::find_if(clients_.begin(), clients_.end(),
                                  [&](const auto& known) { return known.get() == &client; });
  turns_.remove(client.uid(), &client);
  client.give_up();
  clients_.erase(place);
}

void JobSocket::drop_idle() {
  const Instant now = loop::now();
  std::erase_if(clients_, [now](const auto& client) { return client->is_idle(now); });
  idle_timer_.set(now + kIdleLook);
}

}  // namespace plimsoll::daemon
