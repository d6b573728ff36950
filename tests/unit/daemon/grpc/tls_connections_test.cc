// Connections over TCP, before and after a call has come by them.
#include "daemon/grpc/tls_connections.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/loop/loop.h"
#include "base/loop/tcp_socket.h"

namespace plimsoll::daemon {
namespace {

// Both ends of connections to one port of this machine's.
struct Port {
  explicit Port(std::string at) : host(std::move(at)) {
    auto sockets = loop::listen_over_tcp(host, 0, "listen");
    EXPECT_TRUE(sockets) << sockets.error().message();
    listening = std::move(sockets->front());
  }

  struct Ends {
    UniqueFd client, server;
    std::string peer;  // in gRPC's words

    // Whether the other side has closed it, within 30 s.
    [[nodiscard]] bool is_ended() const {
      const timeval patience{.tv_sec = 30, .tv_usec = 0};
      ::setsockopt(client.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
      char byte = 0;
      return ::recv(client.get(), &byte, 1, 0) == 0;
    }
  };

  [[nodiscard]] Ends connect() const {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::getsockname(listening.get(), generic, &size), 0);
    Ends ends;
    ends.client = UniqueFd(::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(ends.client.get(), generic, size), 0);
    ends.server = UniqueFd(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
    EXPECT_TRUE(ends.server);
    const std::string port = std::to_string(loop::port_of(ends.client.get()));
    ends.peer = address.ss_family == AF_INET ? "ipv4:" + host + ":" + port
                                             : "ipv6:%5B" + host + "%5D:" + port;
    return ends;
  }

  std::string host;
  UniqueFd listening;
};

struct TlsConnectionsTest : ::testing::Test {
  Port::Ends add(const Port& port) {
    Port::Ends ends = port.connect();
    const auto added = connections.add(ends.server.get(), now);
    EXPECT_TRUE(added) << added.error().message();
    return ends;
  }

  TlsConnections connections;
  Port here{"127.0.0.1"};
  Instant now = loop::now();
};

TEST_F(TlsConnectionsTest, StrangersAreSoManyAndNoMore) {
  std::vector<Port::Ends> silent;
  for (std::size_t i = 0; i < 3 * TlsConnections::kStrangersOfAddressMax; ++i) {
    silent.push_back(add(here));
    now += std::chrono::milliseconds(1);
  }
  EXPECT_EQ(connections.strangers(), TlsConnections::kStrangersOfAddressMax);
  for (std::size_t i = 0; i < 2 * TlsConnections::kStrangersOfAddressMax; ++i) {
    EXPECT_TRUE(silent[i].is_ended()) << i;
  }
  connections.called(silent.back().peer, "late");
  EXPECT_EQ(connections.known(), 1u);
}

TEST_F(TlsConnectionsTest, AStrangerHasHisTime) {
  const Port::Ends silent = add(here), caller = add(here);
  connections.called(caller.peer, "a");
  EXPECT_EQ(connections.look(now), now + TlsConnections::kStrangerTime);
  EXPECT_EQ(connections.look(now + TlsConnections::kStrangerTime), Instant::max());
  EXPECT_TRUE(silent.is_ended());
  EXPECT_EQ(connections.strangers(), 0u);
  EXPECT_EQ(connections.known(), 1u);
}

TEST_F(TlsConnectionsTest, WhoHasHungUpIsNoStranger) {
  Port::Ends gone = add(here);
  gone.server = UniqueFd();  // as gRPC does then
  EXPECT_EQ(connections.look(now), Instant::max());
  EXPECT_EQ(connections.strangers(), 0u);
}

TEST_F(TlsConnectionsTest, CallsAreTheirCertificates) {
  const Port::Ends one = add(here), other = add(here), again = add(here), silent = add(here);
  connections.called(one.peer, "a");
  connections.called(other.peer, "b");
  connections.called(again.peer, "a");
  EXPECT_NE(connections.certificate_of(one.peer), 0u);
  EXPECT_NE(connections.certificate_of(other.peer), 0u);
  EXPECT_NE(connections.certificate_of(one.peer), connections.certificate_of(other.peer));
  EXPECT_EQ(connections.certificate_of(one.peer), connections.certificate_of(again.peer));
  EXPECT_EQ(connections.certificate_of(silent.peer), 0u);
  EXPECT_EQ(connections.certificate_of("what?"), 0u);
}

TEST_F(TlsConnectionsTest, CallsAreCountedForTheirCertificate) {
  const Port::Ends one = add(here), other = add(here), again = add(here);
  const auto open = connections.called(one.peer, "a");
  ASSERT_NE(open, nullptr);
  EXPECT_EQ(connections.called(again.peer, "a"), open);
  EXPECT_EQ(connections.called(one.peer, "a"), open);
  EXPECT_NE(connections.called(other.peer, "b"), open);
  EXPECT_EQ(connections.called("what?", "a"), nullptr);
}

TEST_F(TlsConnectionsTest, ACertificateHasSoManyConnections) {
  std::vector<Port::Ends> many;
  for (std::size_t i = 0; i < TlsConnections::kOfCertificateMax; ++i) {
    many.push_back(add(here));
    connections.called(many.back().peer, "a");
  }
  const Port::Ends one_more = add(here), other = add(here);
  connections.called(one_more.peer, "a");
  connections.called(other.peer, "b");
  EXPECT_TRUE(one_more.is_ended());
  EXPECT_EQ(connections.certificate_of(one_more.peer), 0u);
  EXPECT_NE(connections.certificate_of(other.peer), 0u);
  many.pop_back();
  const Port::Ends next = add(here);
  connections.called(next.peer, "a");
  EXPECT_EQ(connections.certificate_of(next.peer), connections.certificate_of(many[0].peer));
}

// gRPC tells of a call whose connection it has closed meanwhile.
TEST_F(TlsConnectionsTest, ACallOfAClosedConnectionBeyondAllIsNobodys) {
  std::vector<Port::Ends> many;
  for (std::size_t i = 0; i < TlsConnections::kOfCertificateMax; ++i) {
    many.push_back(add(here));
    connections.called(many.back().peer, "a");
  }
  Port::Ends gone = add(here);
  gone.server = UniqueFd();
  connections.called(gone.peer, "a");
  EXPECT_EQ(connections.certificate_of(gone.peer), 0u);
  EXPECT_EQ(connections.known(), TlsConnections::kOfCertificateMax);
}

TEST_F(TlsConnectionsTest, AnAddressOfIpv6IsToldByItsPort) {
  const UniqueFd probe(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  if (::bind(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    GTEST_SKIP() << "no IPv6";
  }
  const Port there("::1");
  const Port::Ends caller = add(there);
  connections.called(caller.peer, "a");
  EXPECT_NE(connections.certificate_of(caller.peer), 0u);
}

}  // namespace
}  // namespace plimsoll::daemon
