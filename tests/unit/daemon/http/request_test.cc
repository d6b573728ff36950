#include "daemon/http/request.h"

#include <gtest/gtest.h>

namespace plimsoll::http {
namespace {

TEST(Request, TheHeadEndsWithAnEmptyLine) {
  EXPECT_EQ(head_size("GET / HTTP/1.1\r\nHost: x\r\n\r\nrest"), 27U);
  EXPECT_EQ(head_size("GET / HTTP/1.1\n\n"), 16U);
  EXPECT_EQ(head_size("GET / HTTP/1.1\r\nHost: x\r\n"), std::nullopt);
  EXPECT_EQ(head_size("GET / HTTP/1.1\r\n\r"), std::nullopt);
  EXPECT_EQ(head_size(""), std::nullopt);
}

TEST(Request, HasWhatMatters) {
  const auto request = parse_request(
      "GET /metrics?x=y HTTP/1.1\r\nhOsT:  localhost:9755 \r\nX: a:b\r\nAccept: a;q=0\r\n"
      "accept: b\r\n\r\n");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->method, "GET");
  EXPECT_EQ(request->path, "/metrics");
  EXPECT_EQ(request->host, "localhost:9755");
  EXPECT_EQ(request->accept, "a;q=0,b");
}

TEST(Request, AnOldOneNeedsNoHost) {
  const auto request = parse_request("GET / HTTP/1.0\r\n\r\n");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->host, std::nullopt);
}

TEST(Request, WhatIsNoneIsNone) {
  for (const char* head :
       {"", "\r\n\r\n", "GET\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/2\r\n\r\n", "GET http://x/ HTTP/1.0\r\n\r\n", " / HTTP/1.0\r\n\r\n",
        "GET  / HTTP/1.0\r\n\r\n", "GET / HTTP/1.0 \r\n\r\n", "GET /\x01 HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n",
        "GET / HTTP/1.1\r\n: a\r\n\r\n"}) {
    EXPECT_FALSE(parse_request(head)) << head;
  }
}

TEST(Request, IsForOneOfTheNames) {
  const std::vector<std::string> names = {"localhost", "127.0.0.1", "::1", "Build.example.com"};
  for (const char* host : {"localhost", "LOCALHOST:9755", "127.0.0.1:1", "[::1]", "[::1]:9755",
                           "build.example.com", "build.example.com.:80"}) {
    EXPECT_TRUE(names_host(host, names)) << host;
  }
  for (const char* host : {"", ":9755", "evil.example.com", "localhost.example.com", "127.0.0.11",
                           "[::1", "[]", "xlocalhost", "."}) {
    EXPECT_FALSE(names_host(host, names)) << host;
  }
}

}  // namespace
}  // namespace plimsoll::http
