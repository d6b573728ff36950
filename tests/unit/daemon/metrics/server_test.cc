#include "daemon/metrics/site.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <prometheus/metric_family.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/loop/loop.h"
#include "base/unique_fd.h"
#include "daemon/http/server.h"
#include "support/ask_beside.h"
#include "support/http_client.h"

namespace plimsoll::metrics {
namespace {

using http::client_of;
using http::kConnectionsMax;
using http::kHeadBytesMax;
using http::kOfClientMax;
using http::Server;
using http::ServerConfig;
using test::connect_to;
using test::exchange;
using test::read_all;
using test::send_text;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<prometheus::MetricFamily> one_family() {
  prometheus::MetricFamily family{
      .name = "a_total", .help = "h", .type = prometheus::MetricType::Counter, .metric = {}};
  family.metric.emplace_back().counter.value = 7;
  return {family};
}

// Whether the other side has taken all that was sent to it, as the kernel lists the socket there.
bool is_taken(const UniqueFd& fd) {
  sockaddr_in own{};
  socklen_t size = sizeof own;
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&own), &size);
  std::array<char, 32> peer{};  // its column there: address and port in hexadecimal
  std::snprintf(peer.data(), peer.size(), "%08X:%04X", own.sin_addr.s_addr, ntohs(own.sin_port));
  std::ifstream table("/proc/net/tcp");
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string number, local, remote, state, queues;
    if (words >> number >> local >> remote >> state >> queues && remote == peer.data()) {
      return queues.ends_with(":00000000");
    }
  }
  return false;
}

struct ServerTest : ::testing::Test, MetricsSource {
  void SetUp() override { start({.host = "127.0.0.1"}); }

  void start(const ServerConfig& config) {
    auto made = Server::start(config, metrics_site(loop, *this));
    ASSERT_TRUE(made) << made.error().message();
    server = std::move(*made);
  }

  std::vector<prometheus::MetricFamily> collect() override {
    collected_on = std::this_thread::get_id();
    ++collected;
    return one_family();
  }

  std::string ask(const std::function<std::string()>& client_does) {
    return test::ask_beside(loop, client_does);
  }

  std::string send(const std::string& request) {
    return ask([&] { return exchange(server->port(), request); });
  }

  std::string get(const std::string& target, const std::string& accept = "*/*") {
    return send("GET " + target + " HTTP/1.1\r\nHost: localhost\r\nAccept: " + accept + "\r\n\r\n");
  }

  loop::Loop loop = std::move(*loop::Loop::create());
  std::thread::id collected_on;
  int collected = 0;
  std::unique_ptr<Server> server;
};

TEST_F(ServerTest, ServesMetricsCollectedOnTheLoopsThread) {
  const std::string answer = get("/metrics");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\n# HELP a_total h\n# TYPE a_total counter\na_total 7\n"));
  EXPECT_EQ(collected_on, std::this_thread::get_id());
}

TEST_F(ServerTest, ServesOpenMetricsToWhomAsks) {
  const std::string answer = get("/metrics", "application/openmetrics-text;version=1.0.0");
  EXPECT_THAT(answer, HasSubstr("Content-Type: application/openmetrics-text; version=1.0.0; "));
  EXPECT_THAT(answer, HasSubstr("a_total 7\n# EOF\n"));
}

TEST_F(ServerTest, SaysAtTheRootWhereTheMetricsAre) {
  const std::string answer = get("/");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer, HasSubstr("at /metrics."));
}

TEST_F(ServerTest, KnowsNothingElse) {
  EXPECT_THAT(get("/other"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(send("POST /metrics HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(send("what?\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(send("GET /metrics HTTP/1.0\r\nx: " + std::string(kHeadBytesMax, 'x')),
              StartsWith("HTTP/1.1 431 "));
}

TEST_F(ServerTest, AHeadIsAnsweredWithoutABody) {
  const std::string answer = send("HEAD /metrics HTTP/1.0\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nContent-Length: 50\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
}

// A page of the web can have its own name lead to this machine; its host is that name.
TEST_F(ServerTest, AnswersToItsOwnNamesAlone) {
  start({.host = "127.0.0.1", .names = {"build1"}});
  for (const char* host : {"127.0.0.1", "LocalHost:80", "build1:9755"}) {
    EXPECT_THAT(send("GET /metrics HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n"),
                StartsWith("HTTP/1.1 200 "));
  }
  for (const char* host : {"evil.example.com", "127.0.0.2", ""}) {
    EXPECT_THAT(send("GET /metrics HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n"),
                StartsWith("HTTP/1.1 421 "));
  }
}

TEST_F(ServerTest, TheSlowKeepNobodyFromIt) {
  std::vector<UniqueFd> slow;
  for (std::size_t i = 0; i + 1 < kConnectionsMax; ++i) {
    slow.push_back(connect_to(server->port()));
    ASSERT_TRUE(send_text(slow.back().get(), "GET "));
  }
  EXPECT_THAT(get("/metrics"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(ServerTest, TheIdleTakeSoManyDescriptorsAndNoMore) {
  std::vector<UniqueFd> idle;
  for (std::size_t i = 0; i < 3 * kConnectionsMax; ++i) {
    idle.push_back(connect_to(server->port()));
    ASSERT_TRUE(idle.back());
  }
  // Each that came later than there was room for has closed the oldest.
  for (std::size_t i = 0; i < 2 * kConnectionsMax; ++i) {
    EXPECT_EQ(read_all(idle[i].get()), "");
  }
  EXPECT_THAT(get("/metrics"), StartsWith("HTTP/1.1 200 "));
}

// As long as the loop says nothing they wait; nobody who comes then is in their way.
TEST_F(ServerTest, WhoHasAskedIsNotClosedForOneWhoComesLater) {
  const std::string request = "GET /metrics HTTP/1.0\r\n\r\n";
  std::vector<UniqueFd> asked;
  for (std::size_t i = 0; i < kOfClientMax; ++i) {
    asked.push_back(connect_to(server->port()));
    ASSERT_TRUE(send_text(asked.back().get(), request));
  }
  pollfd silent{.fd = asked.back().get(), .events = POLLIN, .revents = 0};
  const Instant deadline = loop::now() + std::chrono::seconds(60);
  while (!std::ranges::all_of(asked, is_taken)) {
    ASSERT_LT(loop::now(), deadline) << "they are not read";
    ASSERT_EQ(::poll(&silent, 1, 1), 0);
  }
  // Each of these is closed without an answer: all of this user's have asked.
  for (std::size_t i = 0; i < kConnectionsMax; ++i) {
    EXPECT_THAT(exchange(server->port(), request), Not(StartsWith("HTTP")));
  }
  std::size_t answered = 0;
  ask([&] {
    for (const UniqueFd& fd : asked) {
      if (read_all(fd.get()).starts_with("HTTP/1.1 ")) ++answered;
    }
    return "";
  });
  EXPECT_EQ(answered, kOfClientMax);
}

TEST_F(ServerTest, OneAnswerOfTheLoopIsForAllOfASecond) {
  constexpr int kTimes = 100;
  const Instant begun = loop::now();
  for (int i = 0; i < kTimes; ++i) ASSERT_THAT(get("/metrics"), HasSubstr("a_total 7\n"));
  EXPECT_THAT(get("/metrics", "application/openmetrics-text"), HasSubstr("# EOF"));
  EXPECT_LE(collected, 1 + (loop::now() - begun) / kAnswerKept);
}

TEST_F(ServerTest, ARequestHasItsTimeAsAWhole) {
  start({.host = "127.0.0.1", .request_max = std::chrono::milliseconds(200)});
  const UniqueFd slow = connect_to(server->port());
  const Instant deadline = loop::now() + std::chrono::seconds(30);
  // A byte whenever it is awaited: each read is soon over, the whole never.
  pollfd closed{.fd = slow.get(), .events = POLLIN, .revents = 0};
  while (::poll(&closed, 1, 10) == 0 && loop::now() < deadline) send_text(slow.get(), "x");
  EXPECT_EQ(read_all(slow.get()), "");
}

TEST_F(ServerTest, AUnixSocketHasItsMode) {
  std::string directory = ::testing::TempDir() + "plimsoll-web-XXXXXX";
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  const std::string path = directory + "/metrics.socket";
  start({.socket = path, .socket_mode = 0640});
  EXPECT_EQ(server->port(), 0);
  struct stat about{};
  ASSERT_EQ(::stat(path.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0640u);
  const std::string answer = ask([&path] {
    const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    if (::connect(fd.get(), generic, sizeof address) != 0) return std::string("no connection");
    // Whoever may connect may name it as he likes.
    send_text(fd.get(), "GET /metrics HTTP/1.1\r\nHost: anything\r\n\r\n");
    return read_all(fd.get());
  });
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  server.reset();
  EXPECT_NE(::stat(path.c_str(), &about), 0);
  ::rmdir(directory.c_str());
}

TEST_F(ServerTest, UsersOfThisMachineAreToldApart) {
  const UniqueFd listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(listening.get(), generic, size), 0);
  ASSERT_EQ(::listen(listening.get(), 1), 0);
  ASSERT_EQ(::getsockname(listening.get(), generic, &size), 0);
  UniqueFd client = connect_to(ntohs(address.sin_port));
  const UniqueFd accepted(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
  ASSERT_TRUE(accepted);
  const std::string user = client_of(accepted.get());
  if (user.empty()) GTEST_SKIP() << "the kernel does not tell whose a socket is";
  EXPECT_EQ(user, "uid " + std::to_string(::geteuid()));
  client = UniqueFd();
  EXPECT_EQ(client_of(accepted.get()), "nobody");
}

TEST_F(ServerTest, APortIsListenedAtOnce) {
  const auto second =
      Server::start({.purpose = "metrics", .host = "127.0.0.1", .port = server->port()},
                    metrics_site(loop, *this));
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message(), HasSubstr("listen for metrics at 127.0.0.1:"));
}

TEST_F(ServerTest, EndsWhileARequestWaits) {
  std::string answer;
  std::thread client([&, port = server->port()] {
    answer =
        exchange(port, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  });
  server.reset();  // the loop has not turned
  client.join();
  // The server may end before the client is there, or before it has sent anything.
  const bool is_early = answer == "no connection" || answer == "not sent";
  EXPECT_TRUE(is_early || answer.empty() || answer.starts_with("HTTP/1.1 503")) << answer;
  EXPECT_TRUE(loop.run_once({}));  // what was posted finds nobody
}

TEST_F(ServerTest, EndsAtOnceAfterItsStart) {
  for (int round = 0; round < 20; ++round) {
    auto made = Server::start({.host = "127.0.0.1"}, metrics_site(loop, *this));
    ASSERT_TRUE(made);
  }
}

}  // namespace
}  // namespace plimsoll::metrics
