#include "supervisor/external/closer.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <utility>

#include "support/lingering.h"

namespace plimsoll::supervisor {
namespace {

constexpr policy::Tenant kUser{1001};

std::array<UniqueFd, 2> pair_of(int kind) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, kind | SOCK_CLOEXEC, 0, ends.data()), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

TEST(Closer, ASocketThatLingersIsClosedAtOnce) {
  Closer closer;
  auto [near, far] = testing::connect_over_tcp();
  closer.close(kUser, testing::make_linger(std::move(near)));
  EXPECT_TRUE(testing::is_reset(far, -1));
}

// One that nobody has received goes with the connection, or with a socket that was sent.
TEST(Closer, WhatWaitsInASocketDoesNotLingerEither) {
  Closer closer;
  auto [near, far] = testing::connect_over_tcp();
  auto inner = pair_of(SOCK_STREAM);
  auto outer = pair_of(SOCK_SEQPACKET);
  testing::send_away(inner[0], testing::make_linger(std::move(near)));
  testing::send_away(outer[0], std::move(inner[1]));
  closer.close(kUser, std::move(outer[1]));
  EXPECT_TRUE(testing::is_reset(far, -1));
}

}  // namespace
}  // namespace plimsoll::supervisor
