#include "daemon/http/server.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/loop/loop.h"
#include "base/may_wait.h"

namespace plimsoll::http {
namespace {

// Until then somebody may have closed a descriptor.
constexpr Duration kNoDescriptorPause = std::chrono::seconds(1);

bool is_out_of_descriptors(int number) {
  return number == EMFILE || number == ENFILE || number == ENOBUFS || number == ENOMEM;
}

// Absent: the body has no end but that of the connection.
std::string answer_head(const Answer& answer, std::optional<std::size_t> size) {
  std::string head = "HTTP/1.1 " + std::string(answer.status) + "\r\nContent-Type: ";
  head += answer.type;
  if (size) head += "\r\nContent-Length: " + std::to_string(*size);
  return head + "\r\nCache-Control: no-store\r\nConnection: close\r\n" + answer.fields + "\r\n";
}

Answer refusal(std::string_view status) {
  return {.status = status, .body = body_of("plimsoll: " + std::string(status) + "\n")};
}

}  // namespace

// All is of the server's own thread, once it has begun.
class Server::Http : private Outlet {
 public:
  Http(loop::Loop own, const ServerConfig& config, Listening listening, std::unique_ptr<Site> site)
      : loop_(std::move(own)),
        listening_(std::move(listening)),
        names_(config.names),
        request_max_(config.request_max),
        patience_(config.patience),
        piece_max_(config.piece_max),
        tell_(loop_.poster()),
        site_(std::move(site)) {
    names_.insert(names_.end(), {"localhost", config.host});
    site_->open(*this, loop_);
  }
  Http(const Http&) = delete;
  Http& operator=(const Http&) = delete;

  ~Http() override {
    may_wait("Server::~Server");
    tell_([this] { is_over_ = true; });
    if (thread_.joinable()) thread_.join();
  }

  Result<void> begin() {
    auto watch = loop_.watch(listening_.fd(), EPOLLIN, [this](std::uint32_t) { accept(); });
    if (!watch) return pass(std::move(watch));
    watch_ = std::move(*watch);
    thread_ = std::thread([this] {
      while (!is_over_ && loop_.run_once(Duration(-1))) continue;
    });
    return {};
  }

 private:
  enum class Stage : std::uint8_t { reading, asking, writing, streaming };

  struct Connection {
    UniqueFd fd;
    std::string client;
    Instant begun;
    Instant due;
    Stage stage = Stage::reading;
    std::string head{};  // what has come of the request, then the head of the answer
    bool wants_body = true;
    Body body{};
    std::size_t sent = 0;  // of head and body
    loop::Watch watch{};   // first to end

    [[nodiscard]] bool is_sent() const { return sent == head.size() + (body ? body->size() : 0); }
  };

  using Connections = std::map<Client, Connection>;  // a number rises with time

  void accept() {
    UniqueFd fd(::accept4(listening_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) {
      if (!is_out_of_descriptors(errno)) return;
      watch_.wait_for(0);
      return pause_.set(loop::now() + kNoDescriptorPause);
    }
    const Instant now = loop::now();
    Connection connection{
        .fd = {}, .client = client_of(fd.get()), .begun = now, .due = now + request_max_};
    if (!make_room(connection.client)) return;
    const Client client = ++last_;
    auto watch = loop_.watch(fd.get(), EPOLLIN,
                             [this, client](std::uint32_t ready) { on_ready(client, ready); });
    if (!watch) return;
    connection.fd = std::move(fd);
    connection.watch = std::move(*watch);
    connections_.emplace(client, std::move(connection));
    set_timer();
    on_ready(client, EPOLLIN);
  }

  // False: whoever is in the way of one more has asked, so that this one has to come again.
  bool make_room(const std::string& client) {
    const auto is_same = [&client](const auto& entry) { return entry.second.client == client; };
    const auto same = std::count_if(connections_.begin(), connections_.end(), is_same);
    if (!client.empty() && static_cast<std::size_t>(same) >= kOfClientMax) {
      return close_oldest(is_same);
    }
    return connections_.size() < kConnectionsMax || close_oldest([](const auto&) { return true; });
  }

  // Of these, one that has not asked. False: there is none.
  template <class Which>
  bool close_oldest(Which which) {
    const auto reads = [&which](const auto& entry) {
      return entry.second.stage == Stage::reading && which(entry);
    };
    const auto oldest = std::find_if(connections_.begin(), connections_.end(), reads);
    if (oldest == connections_.end()) return false;
    connections_.erase(oldest);
    return true;
  }

  void on_ready(Client client, std::uint32_t ready) {
    const auto place = connections_.find(client);
    if (!step(client, place->second, ready)) close(place);
  }

  Connections::iterator close(Connections::iterator place) {
    const Client client = place->first;
    const bool has_asked = place->second.stage == Stage::asking;
    const auto next = connections_.erase(place);
    if (has_asked) site_->left(client);
    return next;
  }

  // False: the connection is over, as for these that follow.
  bool step(Client client, Connection& connection, std::uint32_t ready) {
    switch (connection.stage) {
      case Stage::reading: return read(client, connection);
      case Stage::asking: return false;  // it is not waited for: its client is gone
      case Stage::writing: return write(connection) && !connection.is_sent();
      case Stage::streaming: return go_on(connection, ready);
    }
    return false;
  }

  bool read(Client client, Connection& connection) {
    std::array<char, 4096> buffer{};
    const ssize_t got = ::recv(connection.fd.get(), buffer.data(), buffer.size(), 0);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    connection.head.append(buffer.data(), static_cast<std::size_t>(got));
    const auto size = head_size(connection.head);
    if (!size && connection.head.size() <= kHeadBytesMax) return true;
    if (!size) {
      send(connection, refusal("431 Request Header Fields Too Large"));
    } else {
      ask(client, connection, parse_request(std::string_view(connection.head).substr(0, *size)));
    }
    return true;
  }

  void ask(Client client, Connection& connection, const std::optional<Request>& request) {
    if (!request) return send(connection, refusal("400 Bad Request"));
    if (!is_for_us(connection, *request)) {
      return send(connection, refusal("421 Misdirected Request"));
    }
    connection.wants_body = request->method != "HEAD";
    if (connection.wants_body && request->method != "GET") {
      return send(connection, refusal("405 Method Not Allowed"));
    }
    connection.stage = Stage::asking;
    connection.due = std::min(connection.due, loop::now() + patience_);
    connection.watch.wait_for(0);
    set_timer();
    site_->get(client, *request);
  }

  // A page of the web has a name of its own; who comes through a Unix socket has a right to.
  [[nodiscard]] bool is_for_us(const Connection& connection, const Request& request) const {
    if (listening_.is_local() || !request.host || names_host(*request.host, names_)) return true;
    return names_host(*request.host, {own_address_of(connection.fd.get())});
  }

  // Null: nobody who waits for an answer.
  Connection* asking(Client client) {
    const auto place = connections_.find(client);
    if (place == connections_.end() || place->second.stage != Stage::asking) return nullptr;
    return &place->second;
  }

  void answer(Client client, const Answer& answer) override {
    if (Connection* connection = asking(client)) send(*connection, answer);
  }

  // It is written in a turn of its own, as are pieces of streams: nobody waits for it here.
  void send(Connection& connection, const Answer& answer) {
    connection.stage = Stage::writing;
    connection.head = answer_head(answer, answer.body ? answer.body->size() : 0);
    connection.body = connection.wants_body ? answer.body : nullptr;
    connection.due = connection.begun + request_max_;
    connection.watch.wait_for(EPOLLOUT);
    set_timer();
  }

  void stream(Client client, const Answer& first) override {
    Connection* connection = asking(client);
    if (connection == nullptr) return;
    if (!connection->wants_body) return send(*connection, first);
    const auto of_client = count_streams([&](const Connection& other) {
      return !other.client.empty() && other.client == connection->client;
    });
    if (streams() >= kStreamsMax || of_client >= kStreamsOfClientMax) {
      return send(*connection, refusal("503 Service Unavailable"));
    }
    ::setsockopt(connection->fd.get(), SOL_SOCKET, SO_SNDBUF, &kStreamBytes, sizeof kStreamBytes);
    connection->stage = Stage::streaming;
    connection->head = answer_head(first, std::nullopt);
    send_piece(*connection, first.body);
  }

  void publish(const Body& piece) override {
    for (auto& [client, connection] : connections_) {
      if (connection.stage != Stage::streaming || !connection.is_sent()) continue;
      connection.head.clear();
      connection.sent = 0;
      send_piece(connection, piece);
    }
  }

  void send_piece(Connection& connection, const Body& piece) {
    connection.body = piece;
    connection.due = loop::now() + piece_max_;
    connection.watch.wait_for(EPOLLIN | EPOLLOUT);
    set_timer();
  }

  // A client of a stream has nothing to say: if there is something to read, it is the end.
  bool go_on(Connection& connection, std::uint32_t ready) {
    if ((ready & ~std::uint32_t{EPOLLOUT}) != 0 || !write(connection)) return false;
    if (!connection.is_sent()) return true;
    connection.due = Instant::max();
    connection.watch.wait_for(EPOLLIN);
    return true;
  }

  template <class Which>
  [[nodiscard]] std::size_t count_streams(Which which) const {
    return static_cast<std::size_t>(
        std::count_if(connections_.begin(), connections_.end(), [&which](const auto& entry) {
          return entry.second.stage == Stage::streaming && which(entry.second);
        }));
  }

  [[nodiscard]] std::size_t streams() const override {
    return count_streams([](const Connection&) { return true; });
  }

  // As much as can be; false: the client is gone.
  static bool write(Connection& connection) {
    while (!connection.is_sent()) {
      const std::size_t head = connection.head.size();
      const std::string_view rest =
          connection.sent < head
              ? std::string_view(connection.head).substr(connection.sent)
              : std::string_view(*connection.body).substr(connection.sent - head);
      const ssize_t took =
          ::send(connection.fd.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (took < 0) return errno == EAGAIN || errno == EINTR;
      connection.sent += static_cast<std::size_t>(took);
    }
    return true;
  }

  void look() {
    const Instant now = loop::now();
    for (auto place = connections_.begin(); place != connections_.end();) {
      Connection& connection = place->second;
      if (connection.due > now) {
        ++place;
      } else if (connection.stage == Stage::asking && connection.begun + request_max_ > now) {
        send(connection, refusal("503 Service Unavailable"));
        site_->left(place++->first);
      } else {
        place = close(place);
      }
    }
    set_timer();
  }

  void set_timer() {
    Instant first = Instant::max();
    for (const auto& [client, connection] : connections_) first = std::min(first, connection.due);
    if (first != Instant::max()) timer_.set(first);
  }

  loop::Loop loop_;
  Listening listening_;
  std::vector<std::string> names_;
  const Duration request_max_;
  const Duration patience_;
  const Duration piece_max_;
  std::function<void(std::function<void()>)> tell_;  // this server's own loop
  bool is_over_ = false;
  Client last_ = 0;
  Connections connections_;
  loop::Watch watch_;
  loop::Timer pause_ = loop_.timer([this] { watch_.wait_for(EPOLLIN); });
  loop::Timer timer_ = loop_.timer([this] { look(); });
  std::unique_ptr<Site> site_;  // may have sources of the loop
  std::thread thread_;
};

Result<std::unique_ptr<Server>> Server::start(const ServerConfig& config,
                                              std::unique_ptr<Site> site) {
  auto listening = Listening::open(config);
  if (!listening) return pass(std::move(listening));
  auto own = loop::Loop::create();
  if (!own) return pass(std::move(own));
  std::unique_ptr<Server> server(new Server);
  server->port_ = listening->port();
  server->http_ =
      std::make_unique<Http>(std::move(*own), config, std::move(*listening), std::move(site));
  if (auto begun = server->http_->begin(); !begun) return pass(std::move(begun));
  return server;
}

Server::~Server() = default;

}  // namespace plimsoll::http
