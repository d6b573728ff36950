#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What is understood of HTTP/1 (RFC 9112): the head of a request, and whom it is meant for. Pure.
namespace plimsoll::http {

// As far as it matters here; other fields are passed over.
struct Request {
  std::string method;               // "GET"
  std::string path;                 // "/metrics", without a query
  std::optional<std::string> host;  // as sent; every request of HTTP/1.1 has one
  std::string accept;               // several, with commas between
};

// Bytes of the head at the front of `text`, its empty line included; nothing: it goes on.
[[nodiscard]] std::optional<std::size_t> head_size(std::string_view text);

// Nothing of what is no head of a request of HTTP/1.0 or 1.1 for a path.
[[nodiscard]] std::optional<Request> parse_request(std::string_view head);

// Whether a Host field, with or without a port, is one of these names: a page of the web that has
// its own name lead here is told apart by it. ASCII letters are equal in both cases.
[[nodiscard]] bool names_host(std::string_view host, const std::vector<std::string>& names);

}  // namespace plimsoll::http
