#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <utility>
#include <vector>

#include "base/loop/loop.h"
#include "daemon/grpc/user_servers.h"
#include "support/lingering.h"

namespace plimsoll::daemon {
namespace {

struct Nothing : UserServicesMaker {
  UserServices make(const supervisor::Peer& /*peer*/) override { return {}; }
  void turned_away(const Error& /*why*/) override {}
};

std::pair<UniqueFd, UniqueFd> connect() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// What its user has sent over it waits at its last close, for as long as he likes.
TEST(RefusedConnection, IsNotWaitedFor) {
  loop::Loop loop = std::move(*loop::Loop::create());
  Nothing nothing;
  UserServers servers(loop, nothing);
  const supervisor::Peer peer{.uid = 1, .gid = 0};
  std::vector<UniqueFd> users;
  for (std::size_t i = 0; i < UserServers::kConnectionsOfUserMax; ++i) {
    auto [user, connection] = connect();
    ASSERT_TRUE(servers.accept(std::move(connection), peer)) << i;
    users.push_back(std::move(user));
  }
  while (servers.waiting() > 0) ASSERT_TRUE(loop.run_once(std::chrono::seconds(1)));
  auto [near, far] = testing::connect_over_tcp();
  auto [user, connection] = connect();
  testing::send_away(user, testing::make_linger(std::move(near)));
  EXPECT_FALSE(servers.accept(std::move(connection), peer));
  EXPECT_TRUE(testing::is_reset(far, -1));
}

}  // namespace
}  // namespace plimsoll::daemon
