#include "web/server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/metric_family.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

#include "base/unique_fd.h"

namespace plimsoll::web {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<prometheus::MetricFamily> one_family() {
  prometheus::MetricFamily family{
      .name = "a_total", .help = "h", .type = prometheus::MetricType::Counter, .metric = {}};
  family.metric.emplace_back().counter.value = 7;
  return {family};
}

// The whole answer to what is sent; blocks.
std::string exchange(std::uint16_t port, const std::string& request) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{.tv_sec = 30, .tv_usec = 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(fd.get(), generic, sizeof address) != 0) return "no connection";
  if (::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) return "not sent";
  std::string answer;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = ::recv(fd.get(), buffer.data(), buffer.size(), 0)) > 0;) {
    answer.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return answer;
}

struct ServerTest : ::testing::Test {
  void SetUp() override {
    auto made = Server::start(loop, {.host = "127.0.0.1", .port = 0}, [this] {
      collected_on = std::this_thread::get_id();
      return one_family();
    });
    ASSERT_TRUE(made) << made.error().message();
    server = std::move(*made);
  }

  // Asks on another thread while the loop turns here.
  std::string get(const std::string& target, const std::string& accept = "*/*") {
    std::string answer;
    std::atomic<bool> done = false;
    std::thread client([&] {
      answer =
          exchange(server->port(), "GET " + target + " HTTP/1.1\r\nHost: x\r\nAccept: " + accept +
                                       "\r\nConnection: close\r\n\r\n");
      done = true;
    });
    while (!done) EXPECT_TRUE(loop.run_once(std::chrono::milliseconds(10)));
    client.join();
    return answer;
  }

  loop::Loop loop = std::move(*loop::Loop::create());
  std::thread::id collected_on;
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

TEST_F(ServerTest, KnowsNothingElse) { EXPECT_THAT(get("/"), StartsWith("HTTP/1.1 404 ")); }

TEST_F(ServerTest, APortIsListenedAtOnce) {
  const auto second =
      Server::start(loop, {.host = "127.0.0.1", .port = server->port()}, one_family);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message(), HasSubstr("listen for metrics at 127.0.0.1:"));
}

TEST_F(ServerTest, EndsWhileARequestWaits) {
  std::string answer;
  std::thread client([&, port = server->port()] {
    answer = exchange(port, "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  });
  server.reset();  // the loop has not turned
  client.join();
  EXPECT_TRUE(answer.empty() || answer.starts_with("HTTP/1.1 503") || answer == "no connection")
      << answer;
  EXPECT_TRUE(loop.run_once({}));  // what was posted finds nobody
}

TEST_F(ServerTest, EndsAtOnceAfterItsStart) {
  for (int round = 0; round < 20; ++round) {
    auto made = Server::start(loop, {.host = "127.0.0.1", .port = 0}, one_family);
    ASSERT_TRUE(made);
  }
}

}  // namespace
}  // namespace plimsoll::web
