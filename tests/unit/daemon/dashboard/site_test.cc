#include "daemon/dashboard/site.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <thread>

#include "base/loop/loop.h"
#include "daemon/http/server.h"
#include "support/ask_beside.h"
#include "support/http_client.h"

namespace plimsoll::dashboard {
namespace {

using test::connect_to;
using test::exchange;
using test::send_text;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct DashboardSiteTest : ::testing::Test, DashboardSource {
  void SetUp() override {
    ASSERT_NE(::mkdtemp(directory.data()), nullptr);
    auto made = http::Server::start(
        {.host = "127.0.0.1"},
        dashboard_site(loop, *this,
                       {.secrets = {.key = "the key", .salt = "of now", .token = "secret"},
                        .runs_dir = directory + "/runs"}));
    ASSERT_TRUE(made) << made.error().message();
    server = std::move(*made);
  }
  void TearDown() override {
    server.reset();
    std::filesystem::remove_all(directory);
  }

  supervisor::RunStatus status() override {
    asked_on = std::this_thread::get_id();
    ++asked;
    supervisor::RunStatus status;
    status.run = "daemon";
    status.used = Bytes{4242};
    return status;
  }

  std::string ask(const std::function<std::string()>& client_does) {
    return test::ask_beside(loop, client_does);
  }

  std::string get(const std::string& path, const std::string& host = "localhost") {
    return exchange(server->port(), "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
  }

  // What comes until there have been so many events.
  std::string events(int count) {
    return ask([&] {
      const UniqueFd fd = connect_to(server->port());
      send_text(fd.get(), "GET /secret/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
      std::string text;
      std::array<char, 4096> buffer{};
      for (std::size_t from = 0; count > 0; --count) {
        while (text.find("\ndata: ", from) == std::string::npos || !text.ends_with("\n\n")) {
          const ssize_t got = ::recv(fd.get(), buffer.data(), buffer.size(), 0);
          if (got <= 0) return text;
          text.append(buffer.data(), static_cast<std::size_t>(got));
        }
        from = text.find("\ndata: ", from) + 1;
      }
      return text;
    });
  }

  loop::Loop loop = std::move(*loop::Loop::create());
  std::string directory = ::testing::TempDir() + "plimsoll-dashboard-XXXXXX";
  std::thread::id asked_on;
  int asked = 0;
  std::unique_ptr<http::Server> server;
};

TEST_F(DashboardSiteTest, NobodySeesAnythingWithoutTheToken) {
  for (const char* path : {"/", "/events", "/runs", "/secreT/", "/secret2/", "/secre/", "//secret/",
                           "/favicon.ico", "/?/secret/", "/secret%2f", "/key"}) {
    EXPECT_THAT(get(path), StartsWith("HTTP/1.1 403 ")) << path;
  }
  EXPECT_EQ(asked, 0);
}

// Whoever asks learns who this is, if he has the key, and else nothing.
TEST_F(DashboardSiteTest, WhoeverAsksIsGivenAProof) {
  const std::string nonce(32, 'a');
  const std::string answer = get("/hello/" + nonce);
  EXPECT_THAT(answer,
              AllOf(StartsWith("HTTP/1.1 200 "), Not(HasSubstr("secret")),
                    EndsWith("\r\n\r\n{\"salt\":\"of now\",\"proof\":\"" +
                             proof_of({.key = "the key", .salt = "of now", .token = {}}, nonce) +
                             "\"}\n")));
  for (const char* path : {"/hello", "/hello/", "/hello/short", "/hello/../secret/"}) {
    EXPECT_THAT(get(path), StartsWith("HTTP/1.1 403 ")) << path;
  }
  EXPECT_THAT(get("/secret/key"), EndsWith("\r\n\r\nthe key\n"));
}

TEST_F(DashboardSiteTest, APageOfTheWebSeesNothing) {
  EXPECT_THAT(get("/secret/", "evil.example.com"), StartsWith("HTTP/1.1 421 "));
}

TEST_F(DashboardSiteTest, ThePageLoadsNothingAndIsInNoOtherPage) {
  const std::string answer = get("/secret/");
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("<title>Plimsoll</title>"),
                            HasSubstr("default-src 'none'; script-src 'sha256-"),
                            HasSubstr("frame-ancestors 'none'"),
                            HasSubstr("Referrer-Policy: no-referrer\r\n"),
                            HasSubstr("X-Content-Type-Options: nosniff\r\n")));
  EXPECT_THAT(answer, Not(HasSubstr("secret")));
}

TEST_F(DashboardSiteTest, AMissingSlashIsFound) {
  EXPECT_THAT(get("/secret"),
              AllOf(StartsWith("HTTP/1.1 308 "), HasSubstr("\r\nLocation: /secret/\r\n")));
  EXPECT_THAT(get("/secret/other"), StartsWith("HTTP/1.1 404 "));
}

TEST_F(DashboardSiteTest, EventsAreWhatTheLoopTells) {
  const std::string text = events(1);
  EXPECT_THAT(text, HasSubstr("Content-Type: text/event-stream\r\n"));
  EXPECT_THAT(text, HasSubstr("\r\n\r\nretry: 1000\n\ndata: {\"schema\":\"plimsoll.progress/1\""));
  EXPECT_THAT(text, HasSubstr("\"used_bytes\":4242"));
  EXPECT_EQ(asked_on, std::this_thread::get_id());
}

TEST_F(DashboardSiteTest, EventsGoOnAsLongAsSomebodyLooks) {
  EXPECT_THAT(events(3), EndsWith("}\n\n"));
  EXPECT_GE(asked, 3);
  // Who comes now has the last at once, and goes on having more.
  EXPECT_THAT(events(2), EndsWith("}\n\n"));
}

TEST_F(DashboardSiteTest, RunsAreListedAndShown) {
  EXPECT_THAT(get("/secret/runs"), EndsWith("{\"schema\":\"plimsoll.runs/1\",\"runs\":[]}\n"));
  EXPECT_THAT(get("/secret/runs/none"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(get("/secret/runs/../../etc/passwd"), StartsWith("HTTP/1.1 404 "));
}

}  // namespace
}  // namespace plimsoll::dashboard
