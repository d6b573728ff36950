#include "daemon/grpc/tls_connections.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

namespace plimsoll::daemon {
namespace {

struct OtherEnd {
  std::string key;      // address and port
  std::string address;  // whose strangers are counted together
};

std::string number_text(int family, const void* bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(family, bytes, text.data(), text.size());
  return text.data();
}

std::string key_of_end(const std::string& address, std::uint16_t port) {
  return address + " " + std::to_string(port);
}

std::optional<OtherEnd> other_end_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  in_addr v4{};
  std::uint16_t port = 0;
  if (address.ss_family == AF_INET) {
    v4 = reinterpret_cast<const sockaddr_in&>(address).sin_addr;
    port = ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  } else if (address.ss_family == AF_INET6) {
    in6_addr v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    port = ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
    constexpr std::size_t kHalf = sizeof v6 / 2, kBeforeV4 = sizeof v6 - sizeof v4;
    if (!IN6_IS_ADDR_V4MAPPED(&v6)) {
      const std::string whole = number_text(AF_INET6, &v6);
      std::fill(v6.s6_addr + kHalf, v6.s6_addr + sizeof v6, 0);
      return OtherEnd{key_of_end(whole, port), number_text(AF_INET6, &v6)};
    }
    std::memcpy(&v4, v6.s6_addr + kBeforeV4, sizeof v4);
  } else {
    return {};
  }
  const std::string number = number_text(AF_INET, &v4);
  // Whoever is here may come from any address of the loopback's.
  return OtherEnd{key_of_end(number, port), number.starts_with("127.") ? "127.0.0.0" : number};
}

// "ipv4:127.0.0.1:80", "ipv6:[::1]:80", the latter with brackets as %5B and %5D; an address of one
// link has a zone behind a '%' of its own.
std::string key_of_peer(std::string_view peer) {
  const std::size_t scheme = peer.find(':'), port = peer.rfind(':');
  if (scheme == std::string_view::npos || port <= scheme) return {};
  std::string_view host = peer.substr(scheme + 1, port - scheme - 1);
  for (const std::string_view opening : {"[", "%5B"}) {
    if (host.starts_with(opening)) host.remove_prefix(opening.size());
  }
  host = host.substr(0, host.find_first_of("%]"));
  return std::string(host) + " " + std::string(peer.substr(port + 1));
}

}  // namespace

bool TlsConnections::Connection::is_open() const {
  struct stat about{};
  return ::fstat(number, &about) == 0 && about.st_ino == socket;
}

Result<void> TlsConnections::add(int socket, Instant now) {
  const auto end = other_end_of(socket);
  struct stat about{};
  if (!end || ::fstat(socket, &about) != 0) return fail_errno("examine a TCP connection");
  const std::lock_guard lock(mutex_);
  for (auto next = open_.begin(); next != open_.end();) {
    const auto place = next++;
    if (!place->second.is_known() && !place->second.is_open()) forget(place);
  }
  // From one port to two of our addresses: gRPC's calls would not tell them apart.
  if (const auto same = open_.find(end->key); same != open_.end()) {
    if (same->second.is_open()) return fail("found two TCP connections from " + end->key);
    forget(same);
  }
  UniqueFd own(::fcntl(socket, F_DUPFD_CLOEXEC, 0));
  if (!own) return fail_errno("count a TCP connection");
  if (count_strangers(&end->address) >= kStrangersOfAddressMax) {
    end_oldest(&end->address);
  } else if (count_strangers(nullptr) >= kStrangersMax) {
    end_oldest(nullptr);
  }
  open_.emplace(end->key, Connection{.number = socket,
                                     .socket = about.st_ino,
                                     .address = end->address,
                                     .due = now + kStrangerTime,
                                     .own = std::move(own)});
  return {};
}

Instant TlsConnections::look(Instant now) {
  const std::lock_guard lock(mutex_);
  Instant first = Instant::max();
  for (auto next = open_.begin(); next != open_.end();) {
    const auto place = next++;
    const Connection& connection = place->second;
    if (connection.is_known()) continue;
    if (connection.due <= now || !connection.is_open()) {
      forget(place);
    } else {
      first = std::min(first, connection.due);
    }
  }
  return first;
}

std::shared_ptr<TlsConnections::OpenCalls> TlsConnections::called(std::string_view peer,
                                                                  const std::string& certificate) {
  const std::lock_guard lock(mutex_);
  const std::string key = key_of_peer(peer);
  auto place = open_.find(key);
  if (place == open_.end()) return nullptr;
  if (place->second.is_known()) return place->second.certificate->second.calls;
  const auto is_full = [&] {
    const auto known = certificates_.find(certificate);
    return (known != certificates_.end() && known->second.connections >= kOfCertificateMax) ||
           count_known() >= kKnownMax;
  };
  if (is_full()) {
    forget_closed();
    place = open_.find(key);  // it may be one of these
    if (place == open_.end()) return nullptr;
  }
  if (is_full()) {
    forget(place);
    return nullptr;
  }
  const auto [name, is_new] = certificates_.try_emplace(certificate);
  if (is_new) name->second.number = ++last_number_;
  ++name->second.connections;
  place->second.certificate = name;
  place->second.own = UniqueFd();
  return name->second.calls;
}

std::uint32_t TlsConnections::certificate_of(std::string_view peer) const {
  const std::lock_guard lock(mutex_);
  const auto place = open_.find(key_of_peer(peer));
  if (place == open_.end() || !place->second.is_known()) return 0;
  return place->second.certificate->second.number;
}

std::size_t TlsConnections::strangers() const {
  const std::lock_guard lock(mutex_);
  return count_strangers(nullptr);
}

std::size_t TlsConnections::known() const {
  const std::lock_guard lock(mutex_);
  return count_known();
}

void TlsConnections::end_oldest(const std::string* address) {
  auto oldest = open_.end();
  for (auto it = open_.begin(); it != open_.end(); ++it) {
    if (it->second.is_known() || (address != nullptr && it->second.address != *address)) continue;
    if (oldest == open_.end() || it->second.due < oldest->second.due) oldest = it;
  }
  if (oldest != open_.end()) forget(oldest);
}

// A stranger's ends with it: gRPC finds it closed.
TlsConnections::Connections::iterator TlsConnections::forget(Connections::iterator place) {
  const Connection& connection = place->second;
  if (!connection.is_known()) {
    ::shutdown(connection.own.get(), SHUT_RDWR);
  } else if (--connection.certificate->second.connections == 0) {
    certificates_.erase(connection.certificate);
  }
  return open_.erase(place);
}

void TlsConnections::forget_closed() {
  for (auto it = open_.begin(); it != open_.end();) {
    it = it->second.is_open() ? std::next(it) : forget(it);
  }
}

std::size_t TlsConnections::count_strangers(const std::string* address) const {
  return static_cast<std::size_t>(std::count_if(open_.begin(), open_.end(), [&](const auto& entry) {
    const Connection& connection = entry.second;
    return !connection.is_known() && (address == nullptr || connection.address == *address);
  }));
}

}  // namespace plimsoll::daemon
