#include "daemon/metrics/server.h"

#include <prometheus/metric_family.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/may_wait.h"
#include "daemon/metrics/exposition.h"
#include "daemon/metrics/request.h"

namespace plimsoll::metrics {
namespace {

using Families = std::vector<prometheus::MetricFamily>;
using Body = std::shared_ptr<const std::string>;

// Until then somebody may have closed a descriptor.
constexpr Duration kNoDescriptorPause = std::chrono::seconds(1);
constexpr std::string_view kPlain = "text/plain; charset=utf-8";

bool is_out_of_descriptors(int number) {
  return number == EMFILE || number == ENFILE || number == ENOBUFS || number == ENOMEM;
}

std::string answer_head(std::string_view status, std::string_view type, std::size_t size) {
  std::string head = "HTTP/1.1 " + std::string(status) + "\r\nContent-Type: ";
  head += std::string(type) + "\r\nContent-Length: " + std::to_string(size);
  return head + "\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n";
}

}  // namespace

// Invariant: `source_` is asked and let go on the thread of the daemon's loop only; all else is of
// the server's own, once it has begun.
class Server::Http {
 public:
  Http(loop::Loop own, loop::Loop& daemon, const ServerConfig& config, Listening listening,
       MetricsSource& source)
      : loop_(std::move(own)),
        listening_(std::move(listening)),
        names_(config.names),
        request_max_(config.request_max),
        ask_daemon_(daemon.poster()),
        tell_(loop_.poster()),
        source_(std::make_shared<MetricsSource*>(&source)) {
    names_.insert(names_.end(), {"localhost", config.host});
  }
  Http(const Http&) = delete;
  Http& operator=(const Http&) = delete;

  ~Http() {
    may_wait("Server::~Server");
    source_.reset();
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
  enum class Stage : std::uint8_t { reading, asking, writing };

  struct Connection {
    UniqueFd fd;
    std::string client;
    Instant begun;
    Instant due;
    Stage stage = Stage::reading;
    std::string head{};  // what has come of the request, then the head of the answer
    Exposition exposition{};
    bool wants_body = true;
    Body body{};
    std::size_t sent = 0;  // of head and body
    loop::Watch watch{};   // first to end
  };

  // What the loop has answered last.
  struct Kept {
    Instant since{};
    std::shared_ptr<const Families> families{};
    std::map<Exposition, Body> bodies{};
  };

  using Id = std::uint64_t;  // rises with time
  using Connections = std::map<Id, Connection>;

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
    const Id id = ++last_;
    auto watch = loop_.watch(fd.get(), EPOLLIN, [this, id](std::uint32_t) { on_ready(id); });
    if (!watch) return;
    connection.fd = std::move(fd);
    connection.watch = std::move(*watch);
    connections_.emplace(id, std::move(connection));
    set_timer();
    on_ready(id);
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

  void on_ready(Id id) {
    const auto place = connections_.find(id);
    if (!step(place->second)) connections_.erase(place);
  }

  // False: the connection is over, as for these that follow.
  bool step(Connection& connection) {
    switch (connection.stage) {
      case Stage::reading: return read(connection);
      case Stage::asking: return false;  // it is not waited for: its client is gone
      case Stage::writing: return write(connection);
    }
    return false;
  }

  bool read(Connection& connection) {
    std::array<char, 4096> buffer{};
    const ssize_t got = ::recv(connection.fd.get(), buffer.data(), buffer.size(), 0);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    connection.head.append(buffer.data(), static_cast<std::size_t>(got));
    const auto size = head_size(connection.head);
    if (!size && connection.head.size() <= kHeadBytesMax) return true;
    if (!size) return refuse(connection, "431 Request Header Fields Too Large");
    return answer(connection, parse_request(std::string_view(connection.head).substr(0, *size)));
  }

  bool answer(Connection& connection, const std::optional<Request>& request) {
    if (!request) return refuse(connection, "400 Bad Request");
    if (!is_for_us(connection, *request)) return refuse(connection, "421 Misdirected Request");
    connection.wants_body = request->method != "HEAD";
    if (connection.wants_body && request->method != "GET") {
      return refuse(connection, "405 Method Not Allowed");
    }
    if (request->path == "/") return send(connection, "200 OK", kPlain, where_metrics_are());
    if (request->path != "/metrics") return refuse(connection, "404 Not Found");
    connection.exposition = exposition_for(request->accept);
    if (kept_.families && loop::now() < kept_.since + kAnswerKept) return send_kept(connection);
    connection.stage = Stage::asking;
    connection.due = std::min(connection.due, loop::now() + kLoopPatience);
    connection.watch.wait_for(0);
    set_timer();
    ask();
    return true;
  }

  // A page of the web has a name of its own; who comes through a Unix socket has a right to.
  [[nodiscard]] bool is_for_us(const Connection& connection, const Request& request) const {
    if (listening_.is_local() || !request.host || names_host(*request.host, names_)) return true;
    return names_host(*request.host, {own_address_of(connection.fd.get())});
  }

  static Body where_metrics_are() {
    return std::make_shared<const std::string>("The metrics of Plimsoll are at /metrics.\n");
  }

  bool refuse(Connection& connection, std::string_view status) {
    return send(connection, status, kPlain,
                std::make_shared<const std::string>("plimsoll: " + std::string(status) + "\n"));
  }

  bool send(Connection& connection, std::string_view status, std::string_view type, Body body) {
    connection.stage = Stage::writing;
    connection.head = answer_head(status, type, body->size());
    connection.body = connection.wants_body ? std::move(body) : std::make_shared<std::string>();
    connection.due = connection.begun + request_max_;
    connection.watch.wait_for(EPOLLOUT);
    return write(connection);
  }

  static bool write(Connection& connection) {
    for (;;) {
      const std::size_t head = connection.head.size();
      const std::string_view rest =
          connection.sent < head
              ? std::string_view(connection.head).substr(connection.sent)
              : std::string_view(*connection.body).substr(connection.sent - head);
      if (rest.empty()) return false;
      const ssize_t took =
          ::send(connection.fd.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (took < 0) return errno == EAGAIN || errno == EINTR;
      connection.sent += static_cast<std::size_t>(took);
    }
  }

  // One answer of the loop is for all that wait by then, and for whoever comes while it is kept.
  void ask() {
    if (is_asking_) return;
    is_asking_ = true;
    ask_daemon_([this, source = weak_, tell = tell_] {
      const auto alive = source.lock();
      if (!alive) return;
      tell([this, families = std::make_shared<const Families>((*alive)->collect())] {
        told(families);
      });
    });
  }

  void told(std::shared_ptr<const Families> families) {
    is_asking_ = false;
    kept_ = {.since = loop::now(), .families = std::move(families), .bodies = {}};
    for (auto next = connections_.begin(); next != connections_.end();) {
      const auto place = next++;
      if (place->second.stage == Stage::asking && !send_kept(place->second)) {
        connections_.erase(place);
      }
    }
  }

  bool send_kept(Connection& connection) {
    const Exposition exposition = connection.exposition;
    Body& body = kept_.bodies[exposition];
    if (!body) body = std::make_shared<const std::string>(expose(*kept_.families, exposition));
    return send(connection, "200 OK", content_type(exposition), body);
  }

  void look() {
    const Instant now = loop::now();
    for (auto next = connections_.begin(); next != connections_.end();) {
      const auto place = next++;
      Connection& connection = place->second;
      if (connection.due > now) continue;
      const bool goes_on =
          connection.stage == Stage::asking && refuse(connection, "503 Service Unavailable");
      if (!goes_on) connections_.erase(place);
    }
    set_timer();
  }

  void set_timer() {
    Instant first = Instant::max();
    for (const auto& [id, connection] : connections_) first = std::min(first, connection.due);
    if (first != Instant::max()) timer_.set(first);
  }

  loop::Loop loop_;
  Listening listening_;
  std::vector<std::string> names_;
  const Duration request_max_;
  std::function<void(std::function<void()>)> ask_daemon_;
  std::function<void(std::function<void()>)> tell_;  // this server's own loop
  std::shared_ptr<MetricsSource*> source_;
  const std::weak_ptr<MetricsSource*> weak_ = source_;
  bool is_over_ = false;
  bool is_asking_ = false;
  Kept kept_;
  Id last_ = 0;
  Connections connections_;
  loop::Watch watch_;
  loop::Timer pause_ = loop_.timer([this] { watch_.wait_for(EPOLLIN); });
  loop::Timer timer_ = loop_.timer([this] { look(); });
  std::thread thread_;
};

Result<std::unique_ptr<Server>> Server::start(loop::Loop& loop, const ServerConfig& config,
                                              MetricsSource& source) {
  auto listening = Listening::open(config);
  if (!listening) return pass(std::move(listening));
  auto own = loop::Loop::create();
  if (!own) return pass(std::move(own));
  std::unique_ptr<Server> server(new Server);
  server->port_ = listening->port();
  server->http_ =
      std::make_unique<Http>(std::move(*own), loop, config, std::move(*listening), source);
  if (auto begun = server->http_->begin(); !begun) return pass(std::move(begun));
  return server;
}

Server::~Server() = default;

}  // namespace plimsoll::metrics
