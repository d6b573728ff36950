#include "daemon/http/request.h"

#include <algorithm>

#include "base/text.h"

namespace plimsoll::http {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

// A control character in a line is no text; a tab is.
bool is_text(std::string_view line) {
  return std::none_of(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  });
}

// The next line without its end, CRLF or LF.
std::string_view take_head_line(std::string_view& rest) {
  std::string_view line = take_line(rest);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// "GET /metrics?x HTTP/1.1".
std::optional<Request> first_line(std::string_view line) {
  Request request;
  request.method = take_until(line, ' ');
  std::string_view target = take_until(line, ' ');
  if (request.method.empty() || !target.starts_with('/')) return std::nullopt;
  if (line != "HTTP/1.1" && line != "HTTP/1.0") return std::nullopt;
  request.path = take_until(target, '?');
  return request;
}

// False: it is no field, or one too many.
bool take_field(Request& request, std::string_view line) {
  const std::string_view name = take_until(line, ':');
  // Neither folded lines nor spaces before the colon (RFC 9112, 5.1 and 5.2).
  if (name.empty() || name.find_first_of(" \t") != std::string_view::npos) return false;
  const std::string_view value = trim(line);
  if (same_word(name, "host")) {
    if (request.host) return false;
    request.host = value;
  } else if (same_word(name, "accept")) {
    request.accept += (request.accept.empty() ? "" : ",") + std::string(value);
  }
  return true;
}

std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    return end == std::string_view::npos ? std::string_view() : host.substr(1, end - 1);
  }
  return host.substr(0, host.find(':'));
}

}  // namespace

std::optional<std::size_t> head_size(std::string_view text) {
  std::string_view rest = text;
  while (rest.find('\n') != std::string_view::npos) {
    const std::string_view line = take_head_line(rest);
    if (line.empty()) return text.size() - rest.size();
  }
  return std::nullopt;
}

std::optional<Request> parse_request(std::string_view head) {
  const std::string_view line = take_head_line(head);
  auto request = is_text(line) ? first_line(line) : std::nullopt;
  const bool must_name_host = line.ends_with("1");
  while (request && !head.empty()) {
    const std::string_view field = take_head_line(head);
    if (field.empty()) break;
    if (!is_text(field) || !take_field(*request, field)) return std::nullopt;
  }
  if (request && must_name_host && !request->host) return std::nullopt;
  return request;
}

bool names_host(std::string_view host, const std::vector<std::string>& names) {
  std::string_view name = without_port(host);
  if (name.ends_with('.')) name.remove_suffix(1);
  return !name.empty() && std::any_of(names.begin(), names.end(), [name](const std::string& known) {
    return same_word(name, known);
  });
}

}  // namespace plimsoll::http
