#include "daemon/http/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <functional>
#include <future>
#include <string_view>
#include <vector>

#include "base/loop/loop.h"
#include "support/http_client.h"

namespace plimsoll::http {
namespace {

using test::connect_to;
using test::exchange;
using test::read_all;
using test::send_text;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A stream, a page, and a page that is never made.
class FakeSite : public Site {
 public:
  explicit FakeSite(std::atomic<int>& left) : left_(left) {}

  void open(Outlet& outlet, loop::Loop& own) override {
    outlet_ = &outlet;
    post_ = own.poster();
  }
  void get(Client client, const Request& request) override {
    if (request.path == "/stream") return outlet_->stream(client, {.body = body_of("first")});
    if (request.path == "/never") {
      ++waiting_;
    } else {
      outlet_->answer(client, {.body = body_of("page")});
    }
  }
  void left(Client) override { ++left_; }

  [[nodiscard]] int waiting() const { return waiting_; }

  // From the test's thread; waits for the server's.
  void publish(const Body& piece) {
    in_turn([&] { outlet_->publish(piece); });
  }
  std::size_t streams() {
    std::size_t count = 0;
    in_turn([&] { count = outlet_->streams(); });
    return count;
  }

 private:
  void in_turn(const std::function<void()>& call) {
    std::promise<void> done;
    post_([&] {
      call();
      done.set_value();
    });
    done.get_future().wait();
  }

  std::atomic<int>& left_;
  std::atomic<int> waiting_ = 0;
  Outlet* outlet_ = nullptr;
  std::function<void(std::function<void()>)> post_;
};

struct HttpServerTest : ::testing::Test {
  void SetUp() override { start({.host = "127.0.0.1"}); }

  void start(const ServerConfig& config) {
    server.reset();
    auto made = std::make_unique<FakeSite>(left);
    site = made.get();
    auto started = Server::start(config, std::move(made));
    ASSERT_TRUE(started) << started.error().message();
    server = std::move(*started);
  }

  std::string get(const std::string& path) {
    return exchange(server->port(), "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }

  // A client that has seen the first piece.
  UniqueFd stream() {
    UniqueFd fd = connect_to(server->port());
    send_text(fd.get(), "GET /stream HTTP/1.0\r\n\r\n");
    EXPECT_THAT(read_until(fd.get(), "first"), HasSubstr("200 OK"));
    return fd;
  }

  // As long as it takes, or until the stream ends.
  static std::string read_until(int fd, std::string_view end) {
    std::string text;
    std::array<char, 65536> buffer{};
    while (!text.ends_with(end)) {
      const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), 0);
      if (got <= 0) break;
      text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return text;
  }

  // Waits for the server to see it.
  static bool becomes_true(const std::function<bool()>& condition) {
    const Instant deadline = loop::now() + std::chrono::seconds(60);
    while (!condition()) {
      if (loop::now() > deadline) return false;
    }
    return true;
  }
  bool streams_become(std::size_t count) {
    return becomes_true([&] { return site->streams() == count; });
  }

  std::atomic<int> left = 0;
  FakeSite* site = nullptr;
  std::unique_ptr<Server> server;
};

TEST_F(HttpServerTest, AnswersAsTheSiteDoes) {
  EXPECT_THAT(get("/"), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(get("/"), EndsWith("\r\n\r\npage"));
}

TEST_F(HttpServerTest, WhatIsNotAnsweredIsToldSo) {
  start({.host = "127.0.0.1", .patience = std::chrono::milliseconds(50)});
  EXPECT_THAT(get("/never"), StartsWith("HTTP/1.1 503 "));
  EXPECT_EQ(left, 1);
}

TEST_F(HttpServerTest, TheSiteIsToldWhoHasLeft) {
  UniqueFd client = connect_to(server->port());
  ASSERT_TRUE(send_text(client.get(), "GET /never HTTP/1.0\r\n\r\n"));
  ASSERT_TRUE(becomes_true([&] { return site->waiting() == 1; }));
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  client = UniqueFd();
  EXPECT_TRUE(becomes_true([&] { return left == 1; }));
}

TEST_F(HttpServerTest, WhatIsPublishedGoesToEachStream) {
  const UniqueFd one = stream(), other = stream();
  EXPECT_EQ(site->streams(), 2U);
  site->publish(body_of("second"));
  EXPECT_EQ(read_until(one.get(), "second"), "second");
  EXPECT_EQ(read_until(other.get(), "second"), "second");
  site->publish(body_of("third"));
  EXPECT_EQ(read_until(one.get(), "third"), "third");
  server.reset();
  EXPECT_EQ(read_all(other.get()), "third");
}

TEST_F(HttpServerTest, AStreamEndsWithItsClient) {
  UniqueFd one = stream(), other = stream();
  one = UniqueFd();
  EXPECT_TRUE(streams_become(1));
  ASSERT_TRUE(send_text(other.get(), "more"));  // which no client has to say
  EXPECT_TRUE(streams_become(0));
}

TEST_F(HttpServerTest, StreamsOfAClientAreBounded) {
  std::vector<UniqueFd> streams;
  for (std::size_t i = 0; i < kStreamsOfClientMax; ++i) streams.push_back(stream());
  EXPECT_THAT(get("/stream"), StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(get("/"), EndsWith("page"));
  streams.pop_back();
  ASSERT_TRUE(streams_become(kStreamsOfClientMax - 1));
  streams.push_back(stream());
}

// More than the kernel keeps of a stream that is not read.
Body large_piece() { return body_of(std::string(32 << 20, 'x') + "end"); }

TEST_F(HttpServerTest, AStreamThatIsNotReadHoldsUpNobody) {
  start({.host = "127.0.0.1", .piece_max = std::chrono::hours(1)});
  const UniqueFd slow = stream(), quick = stream();
  const Body large = large_piece();
  site->publish(large);
  EXPECT_EQ(read_until(quick.get(), "end").size(), large->size());
  site->publish(body_of("next"));
  EXPECT_EQ(read_until(quick.get(), "next"), "next");
  // Who is late goes without what came in between.
  EXPECT_EQ(read_until(slow.get(), "end").size(), large->size());
  ASSERT_TRUE(becomes_true([&] {
    site->publish(body_of("last"));
    pollfd ready{.fd = slow.get(), .events = POLLIN, .revents = 0};
    return ::poll(&ready, 1, 0) == 1;
  }));
  EXPECT_THAT(read_until(slow.get(), "last"), StartsWith("last"));
}

TEST_F(HttpServerTest, AStreamThatIsNotReadEnds) {
  start({.host = "127.0.0.1", .piece_max = std::chrono::milliseconds(100)});
  const UniqueFd slow = stream();
  const Body large = large_piece();
  site->publish(large);
  EXPECT_TRUE(streams_become(0));
  EXPECT_LT(read_all(slow.get()).size(), large->size());
}

TEST_F(HttpServerTest, AHeadOfAStreamIsNone) {
  const std::string answer =
      exchange(server->port(), "HEAD /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
}

}  // namespace
}  // namespace plimsoll::http
