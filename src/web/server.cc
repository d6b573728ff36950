#include "web/server.h"

#include <httplib.h>
#include <prometheus/metric_family.h>

#include <atomic>
#include <future>
#include <optional>
#include <thread>

#include "web/exposition.h"

namespace plimsoll::web {
namespace {

using Families = std::vector<prometheus::MetricFamily>;

constexpr std::size_t kBodyMax = 4096;  // a GET has none
constexpr time_t kClientSeconds = 5;    // that a client may take to send or to take something
constexpr int kUnavailable = 503;

}  // namespace

// Invariant: `collect_` is called and let go on the loop's thread only.
class Server::Http {
 public:
  Http(loop::Loop& loop, std::function<Families()> collect)
      : post_(loop.poster()),
        collect_(std::make_shared<std::function<Families()>>(std::move(collect))) {
    http_.new_task_queue = [] { return new_pool(); };
    http_.set_payload_max_length(kBodyMax);
    http_.set_read_timeout(kClientSeconds);
    http_.set_write_timeout(kClientSeconds);
    http_.set_keep_alive_max_count(1);
    // Not SO_REUSEPORT, which is the library's choice: two daemons would share the scrapes.
    http_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    http_.Get("/metrics", [this](const httplib::Request& request, httplib::Response& response) {
      answer(request, response);
    });
  }

  ~Http() {
    stopping_ = true;
    collect_.reset();
    // Before its thread has begun there is nothing that could be stopped.
    while (thread_.joinable() && !http_.is_running() && !ended_) std::this_thread::yield();
    http_.stop();
    if (thread_.joinable()) thread_.join();
  }

  // The port that it listens at.
  Result<std::uint16_t> listen(const ServerConfig& config) {
    const std::string where = config.host + ":" + std::to_string(config.port);
    int port = config.port;
    errno = 0;
    if (port == 0) {
      port = http_.bind_to_any_port(config.host.c_str());
    } else if (!http_.bind_to_port(config.host.c_str(), port)) {
      port = -1;
    }
    if (port <= 0) return fail_errno("listen for metrics at " + where);
    thread_ = std::thread([this] {
      http_.listen_after_bind();
      ended_ = true;
    });
    return static_cast<std::uint16_t>(port);
  }

 private:
  static httplib::TaskQueue* new_pool() {
    return std::make_unique<httplib::ThreadPool>(kScrapesMax).release();
  }

  // Nothing if the loop does not answer in time.
  std::optional<Families> ask() {
    auto promise = std::make_shared<std::promise<Families>>();
    std::future<Families> answer = promise->get_future();
    post_([promise, collect = weak_] {
      if (const auto alive = collect.lock()) promise->set_value((*alive)());
    });
    const auto turns = kLoopPatience / kStopSlice;
    for (std::int64_t turn = 0; turn < turns && !stopping_; ++turn) {
      if (answer.wait_for(kStopSlice) == std::future_status::ready) return answer.get();
    }
    return std::nullopt;
  }

  void answer(const httplib::Request& request, httplib::Response& response) {
    const auto families = ask();
    if (!families) {
      response.status = kUnavailable;
      response.set_content("plimsoll: the daemon is busy\n", "text/plain");
      return;
    }
    const Exposition exposition = exposition_for(request.get_header_value("Accept"));
    response.set_content(expose(*families, exposition), std::string(content_type(exposition)));
  }

  std::function<void(std::function<void()>)> post_;
  std::shared_ptr<std::function<Families()>> collect_;
  const std::weak_ptr<std::function<Families()>> weak_ = collect_;
  std::atomic<bool> stopping_ = false, ended_ = false;
  httplib::Server http_;
  std::thread thread_;
};

Result<std::unique_ptr<Server>> Server::start(loop::Loop& loop, const ServerConfig& config,
                                              std::function<Families()> collect) {
  std::unique_ptr<Server> server(new Server);
  server->http_ = std::make_unique<Http>(loop, std::move(collect));
  auto port = server->http_->listen(config);
  if (!port) return pass(std::move(port));
  server->port_ = *port;
  return server;
}

Server::~Server() = default;

}  // namespace plimsoll::web
