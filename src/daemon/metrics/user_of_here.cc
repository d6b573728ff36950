#include "daemon/metrics/user_of_here.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "base/unique_fd.h"

namespace plimsoll::metrics {
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

}  // namespace

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

}  // namespace plimsoll::metrics
