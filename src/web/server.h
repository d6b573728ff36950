#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "loop/loop.h"

namespace prometheus {
struct MetricFamily;
}

namespace plimsoll::web {

struct ServerConfig {
  std::string host;
  std::uint16_t port = 0;  // 0: any that is free
};

// So long a request waits for the loop to answer: then 503. Prometheus gives up after 10 s.
inline constexpr Duration kLoopPatience = std::chrono::seconds(2);
// Scrapers at once; more wait in the socket's queue.
inline constexpr std::size_t kScrapesMax = 4;

// Serves GET /metrics on threads of its own. It knows no state: the figures are asked of the loop's
// thread, by a posted closure.
class Server {
 public:
  // `collect` is called on the loop's thread, as long as this lives. Listens when it returns.
  static Result<std::unique_ptr<Server>> start(
      loop::Loop& loop, const ServerConfig& config,
      std::function<std::vector<prometheus::MetricFamily>()> collect);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  // On the loop's thread. Requests that wait for an answer get none; ends within kStopSlice and the
  // time that a client takes for what it was sent.
  ~Server();

  [[nodiscard]] std::uint16_t port() const { return port_; }

  static constexpr Duration kStopSlice = std::chrono::milliseconds(20);

 private:
  class Http;
  Server() = default;
  std::unique_ptr<Http> http_;
  std::uint16_t port_ = 0;
};

}  // namespace plimsoll::web
