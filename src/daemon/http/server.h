#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "daemon/http/listening.h"
#include "daemon/http/site.h"

namespace plimsoll::http {

// Connections at once; descriptors of strangers are no more than that. For another, the oldest that
// has not asked yet is closed; where all have asked, the other is. So nobody who has asked loses
// his answer to one who comes later.
inline constexpr std::size_t kConnectionsMax = 64;
// The same of one client, where it can be told from others: a user of this machine, an address of
// another.
inline constexpr std::size_t kOfClientMax = 16;
// Of these, streams; what is left is for pages. A browser keeps six connections to one host.
inline constexpr std::size_t kStreamsMax = 32;
inline constexpr std::size_t kStreamsOfClientMax = 8;
// What the kernel holds of a stream that is not read.
inline constexpr int kStreamBytes = 256 << 10;
// A scraper sends some hundred bytes; a browser, some thousand.
inline constexpr std::size_t kHeadBytesMax = 8192;

// Serves a site on a thread of its own, which waits for no client.
class Server {
 public:
  // Listens when it returns.
  static Result<std::unique_ptr<Server>> start(const ServerConfig& config,
                                               std::unique_ptr<Site> site);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  // Requests that wait for an answer get none. Waits for the thread's turn; then the site ends, on
  // this thread.
  ~Server();

  [[nodiscard]] std::uint16_t port() const { return port_; }  // 0: it is a Unix socket

 private:
  class Http;
  Server() = default;
  std::unique_ptr<Http> http_;
  std::uint16_t port_ = 0;
};

}  // namespace plimsoll::http
