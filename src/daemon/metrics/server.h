#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/loop/loop.h"
#include "base/result.h"
#include "daemon/metrics/listening.h"

namespace prometheus {
struct MetricFamily;
}

namespace plimsoll::metrics {

// So long a request waits for the daemon's loop to answer: then 503.
inline constexpr Duration kLoopPatience = std::chrono::seconds(2);
// Connections at once; descriptors of strangers are no more than that. For another, the oldest that
// has not asked yet is closed; where all have asked, the other is. So nobody who has asked loses
// his answer to one who comes later.
inline constexpr std::size_t kConnectionsMax = 64;
// The same of one client, where it can be told from others: a user of this machine, an address of
// another.
inline constexpr std::size_t kOfClientMax = 16;
// A scraper sends some hundred bytes; a browser, some thousand.
inline constexpr std::size_t kHeadBytesMax = 8192;
// So long one answer of the loop is good for whoever asks: however many do, it collects once in
// that time. Prometheus asks no more often than that.
inline constexpr Duration kAnswerKept = std::chrono::seconds(1);

// Whose figures are served.
class MetricsSource {
 public:
  virtual ~MetricsSource() = default;
  // All of them as they are now. On the loop's thread.
  virtual std::vector<prometheus::MetricFamily> collect() = 0;
};

// Serves GET /metrics on a thread of its own, which waits for no client and not for the loop. It
// knows no state: the figures are asked of the loop's thread, by a posted closure.
class Server {
 public:
  // `source` is asked on the loop's thread and must outlive this. Listens when it returns.
  static Result<std::unique_ptr<Server>> start(loop::Loop& loop, const ServerConfig& config,
                                               MetricsSource& source);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  // On the loop's thread. Requests that wait for an answer get none. Waits for the thread's turn.
  ~Server();

  [[nodiscard]] std::uint16_t port() const { return port_; }  // 0: it is a Unix socket

 private:
  class Http;
  Server() = default;
  std::unique_ptr<Http> http_;
  std::uint16_t port_ = 0;
};

}  // namespace plimsoll::metrics
