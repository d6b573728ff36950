#include "daemon/grpc/tls_door.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "base/loop/loop.h"
#include "base/loop/tcp_socket.h"
#include "base/may_wait.h"
#include "daemon/grpc/tls_connections.h"
#include "daemon/grpc/user_servers.h"

namespace plimsoll::daemon {
namespace {

// A handshake costs a millisecond of CPU time: so many strangers' take a fifth of a core at most.
// Whoever comes meanwhile waits in the kernel's queue.
constexpr Duration kAcceptGap = std::chrono::milliseconds(5);
// Until then somebody may have closed a descriptor.
constexpr Duration kNoDescriptorGap = std::chrono::seconds(1);

}  // namespace

// Invariant: all is of the door's own thread, once it has begun.
class TlsDoor::Doorkeeper {
 public:
  Doorkeeper(loop::Loop own, std::vector<UniqueFd> sockets,
             std::shared_ptr<TlsConnections> connections, UserServers& servers)
      : loop_(std::move(own)),
        sockets_(std::move(sockets)),
        connections_(std::move(connections)),
        servers_(servers),
        tell_(loop_.poster()) {}
  Doorkeeper(const Doorkeeper&) = delete;
  Doorkeeper& operator=(const Doorkeeper&) = delete;

  ~Doorkeeper() {
    may_wait("TlsDoor::~TlsDoor");
    tell_([this] { is_over_ = true; });
    if (thread_.joinable()) thread_.join();
  }

  Result<void> begin() {
    for (const UniqueFd& socket : sockets_) {
      auto watch = loop_.watch(socket.get(), EPOLLIN,
                               [this, fd = socket.get()](std::uint32_t) { accept(fd); });
      if (!watch) return pass(std::move(watch));
      watches_.push_back(std::move(*watch));
    }
    thread_ = std::thread([this] {
      while (!is_over_ && loop_.run_once(Duration(-1))) continue;
    });
    return {};
  }

  [[nodiscard]] std::uint16_t port() const { return loop::port_of(sockets_.front().get()); }

 private:
  void accept(int socket) {
    UniqueFd fd(::accept4(socket, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    const bool is_short =
        !fd && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM);
    pause(is_short ? kNoDescriptorGap : kAcceptGap);
    if (!fd || !connections_->add(fd.get(), loop::now())) return;
    servers_.accept_tls(std::move(fd));
    look();
  }

  void pause(Duration gap) {
    for (loop::Watch& watch : watches_) watch.wait_for(0);
    pause_.set(loop::now() + gap);
  }
  void go_on() {
    for (loop::Watch& watch : watches_) watch.wait_for(EPOLLIN);
  }

  void look() {
    const Instant next = connections_->look(loop::now());
    if (next != Instant::max()) looks_.set(next);
  }

  loop::Loop loop_;
  std::vector<UniqueFd> sockets_;
  std::shared_ptr<TlsConnections> connections_;
  UserServers& servers_;
  std::function<void(std::function<void()>)> tell_;
  bool is_over_ = false;
  std::vector<loop::Watch> watches_;
  loop::Timer pause_ = loop_.timer([this] { go_on(); });
  loop::Timer looks_ = loop_.timer([this] { look(); });
  std::thread thread_;
};

Result<std::unique_ptr<TlsDoor>> TlsDoor::open(const std::string& host, std::uint16_t port,
                                               std::shared_ptr<TlsConnections> connections,
                                               UserServers& servers) {
  auto sockets = loop::listen_over_tcp(host, port, "listen with TLS");
  if (!sockets) return pass(std::move(sockets));
  auto own = loop::Loop::create();
  if (!own) return pass(std::move(own));
  std::unique_ptr<TlsDoor> door(new TlsDoor);
  door->doorkeeper_ = std::make_unique<Doorkeeper>(std::move(*own), std::move(*sockets),
                                                   std::move(connections), servers);
  if (auto begun = door->doorkeeper_->begin(); !begun) return pass(std::move(begun));
  return door;
}

TlsDoor::~TlsDoor() = default;

std::uint16_t TlsDoor::port() const { return doorkeeper_->port(); }

}  // namespace plimsoll::daemon
