#include "daemon/http/listening.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/loop/tcp_socket.h"
#include "base/loop/unix_socket.h"
#include "base/unique_fd.h"

namespace plimsoll::http {
namespace {

struct DiagQuestion {
  nlmsghdr head;
  inet_diag_req_v2 body;
};

// The numbers of an address as the question has them; false: it is none of IP.
template <class Words>
bool put_address(const sockaddr_storage& address, Words& words, __be16& port) {
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    words[0] = v4.sin_addr.s_addr;
    port = v4.sin_port;
    return true;
  }
  if (address.ss_family != AF_INET6) return false;
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  std::memcpy(&words, &v6.sin6_addr, sizeof v6.sin6_addr);
  port = v6.sin6_port;
  return true;
}

// After the socket at the other end: what is far to us is its own.
bool ask_for_other_end(int connection, DiagQuestion& question) {
  sockaddr_storage far{}, near{};
  socklen_t far_size = sizeof far, near_size = sizeof near;
  if (::getpeername(connection, reinterpret_cast<sockaddr*>(&far), &far_size) != 0 ||
      ::getsockname(connection, reinterpret_cast<sockaddr*>(&near), &near_size) != 0) {
    return false;
  }
  question.head.nlmsg_len = sizeof question;
  question.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.head.nlmsg_flags = NLM_F_REQUEST;
  question.body.sdiag_family = static_cast<__u8>(far.ss_family);
  question.body.sdiag_protocol = IPPROTO_TCP;
  question.body.idiag_states = ~0U;
  inet_diag_sockid& id = question.body.id;
  id.idiag_cookie[0] = id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  return put_address(far, id.idiag_src, id.idiag_sport) &&
         put_address(near, id.idiag_dst, id.idiag_dport);
}

// Whose the other end of this TCP connection is, which comes from this machine: "uid N"; "nobody",
// whose end is closed already. Empty: the kernel does not tell. Asks by NETLINK_SOCK_DIAG
// (sock_diag(7)), which answers at once, and anybody.
std::string user_of_here(int connection) {
  DiagQuestion question{};
  if (!ask_for_other_end(connection, question)) return {};
  const UniqueFd kernel(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!kernel || ::send(kernel.get(), &question, sizeof question, 0) != ssize_t{sizeof question}) {
    return {};
  }
  alignas(nlmsghdr) std::array<char, 4096> answer{};
  const ssize_t got = ::recv(kernel.get(), answer.data(), answer.size(), MSG_DONTWAIT);
  nlmsghdr head{};
  inet_diag_msg told{};
  if (got < static_cast<ssize_t>(NLMSG_HDRLEN + sizeof told)) return {};
  std::memcpy(&head, answer.data(), sizeof head);
  if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY) return {};
  std::memcpy(&told, answer.data() + NLMSG_HDRLEN, sizeof told);
  // A socket that nobody has open any more is told as root's.
  return told.idiag_inode == 0 ? "nobody" : "uid " + std::to_string(told.idiag_uid);
}

// As a number; a v4 address in v6 clothes is one of v4. Empty: no IP.
std::string number_of(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
  } else if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
  }
  constexpr std::string_view kMapped = "::ffff:";
  const std::string number = text.data();
  const bool is_v4 = number.starts_with(kMapped) && number.find('.') != std::string::npos;
  return is_v4 ? number.substr(kMapped.size()) : number;
}

// Whoever has one address of v6 mostly has all that share its first half.
std::string network_of(const sockaddr_storage& address, std::string number) {
  if (address.ss_family != AF_INET6 || number.find(':') == std::string::npos) return number;
  in6_addr v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  std::fill(v6.s6_addr + sizeof v6 / 2, v6.s6_addr + sizeof v6, 0);
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET6, &v6, text.data(), text.size());
  return text.data();
}

}  // namespace

Result<Listening> Listening::open(const ServerConfig& config) {
  Listening made;
  if (config.socket.empty()) {
    auto listening =
        loop::listen_over_tcp(config.host, config.port, "listen for " + config.purpose);
    if (!listening) return pass(std::move(listening));
    made.fd_ = std::move(listening->front());
    made.port_ = loop::port_of(made.fd());
    return made;
  }
  auto fd = loop::listen_at_path(config.socket);
  if (!fd) return pass(std::move(fd));
  made.fd_ = std::move(*fd);
  made.path_ = config.socket;
  if (::chmod(config.socket.c_str(), config.socket_mode) != 0) {
    return fail_errno("open " + config.socket);
  }
  return made;
}

Listening::~Listening() {
  if (fd_ && !path_.empty()) ::unlink(path_.c_str());
}

std::string client_of(int connection) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(connection, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  if (address.ss_family == AF_UNIX) {
    ucred who{};
    socklen_t bytes = sizeof who;
    if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &bytes) != 0) return {};
    return "uid " + std::to_string(who.uid);
  }
  std::string number = number_of(address);
  const bool is_loopback = number == "::1" || number.starts_with("127.");
  if (!is_loopback && number != own_address_of(connection)) {
    return network_of(address, std::move(number));
  }
  std::string user = user_of_here(connection);
  return user.empty() && !is_loopback ? network_of(address, std::move(number)) : user;
}

std::string own_address_of(int connection) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(connection, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  return number_of(address);
}

}  // namespace plimsoll::http
