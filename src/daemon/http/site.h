#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/http/request.h"

namespace plimsoll::loop {
class Loop;
}

// What a server serves, apart from how.
namespace plimsoll::http {

// Shared by all who are sent the same.
using Body = std::shared_ptr<const std::string>;
[[nodiscard]] inline Body body_of(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

inline constexpr std::string_view kPlain = "text/plain; charset=utf-8";

struct Answer {
  std::string_view status = "200 OK";  // of these two, literals
  std::string_view type = kPlain;
  std::string fields{};  // more of the head's, each with its CRLF
  Body body{};           // absent: empty
};

// Whoever has asked, until he is answered or gone; no two are the same.
using Client = std::uint64_t;

// The way back to clients. Of the server's thread; never waits for a client.
class Outlet {
 public:
  virtual ~Outlet() = default;
  // Once for each that has asked, at once or later; without effect if he is gone.
  virtual void answer(Client client, const Answer& answer) = 0;
  // The same, but the body has no end: what is published follows. 503 if there are too many.
  virtual void stream(Client client, const Answer& first) = 0;
  // To all streams whose clients have taken what was published before; the others do without.
  virtual void publish(const Body& piece) = 0;
  [[nodiscard]] virtual std::size_t streams() const = 0;
};

// All but open() and the destructor is called on the server's thread, and must not wait.
class Site {
 public:
  Site() = default;
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;
  virtual ~Site() = default;

  // First, before the server's thread begins to turn `own`. Both outlive the site.
  virtual void open(Outlet& outlet, loop::Loop& own) = 0;
  // GET or HEAD of a path, for a host that is ours.
  virtual void get(Client client, const Request& request) = 0;
  // Who has asked needs no answer any more.
  virtual void left(Client client) { (void)client; }
};

}  // namespace plimsoll::http
