// The traffic of a group against what a process in it has sent.

#include "kernel/counters/network.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "kernel/counters/job_sampler.h"
#include "worker.h"

namespace plimsoll::counters {
namespace {

using cgroup::ControllerSet;
using ::testing::Contains;
using ::testing::Key;
using ::testing::Not;

// Sends `count` datagrams of 1000 bytes to itself over loopback, and takes them.
void send_to_itself(int count) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  if (::bind(fd, generic, size) != 0 || ::getsockname(fd, generic, &size) != 0) ::_exit(3);
  char data[1000] = {};
  for (int i = 0; i < count; ++i) {
    if (::sendto(fd, data, sizeof data, 0, generic, size) < 0) ::_exit(4);
    if (::recv(fd, data, sizeof data, 0) < 0) ::_exit(5);
  }
}

using NetworkTest = MeasureTest;

TEST_F(NetworkTest, TrafficIsTheJobsOwn) {
  if (leaf_->v2() == nullptr) GTEST_SKIP() << "no cgroup v2 tree";
  Network network = Network::attach(*ground_->v2(), plimsoll::testing::base_depth() + 2);
  if (!network.why_not().empty()) GTEST_SKIP() << network.why_not();
  JobSampler sampler(*leaf_, now(), network);
  auto other = ground_->make_leaf("other", ControllerSet());
  ASSERT_TRUE(other);
  {
    Worker worker(*leaf_, [] { send_to_itself(50); });
    Worker neighbour(*other, [] { send_to_itself(70); });
    const Sample running = sampler.sample(now(), wall());
    ASSERT_TRUE(running.network);
    EXPECT_EQ(running.network->tx, Bytes{50 * 1028}) << "with headers of IP and UDP";
  }
  const JobUsage usage = sampler.finish(now(), wall());
  ASSERT_TRUE(usage.totals.network);
  EXPECT_EQ(usage.totals.network->tx, Bytes{50 * 1028});
  EXPECT_EQ(usage.totals.network->rx, Bytes{50 * 1028});
  EXPECT_EQ(usage.totals.network->tx_packets, 50U);
  EXPECT_EQ(usage.totals.network->rx_packets, 50U);
  EXPECT_THAT(usage.unavailable, Not(Contains(Key("network"))));
  EXPECT_TRUE(ground_->remove_child("other"));
}

TEST_F(NetworkTest, CountsTheDirectionsApartAndSubGroupsToo) {
  if (leaf_->v2() == nullptr) GTEST_SKIP() << "no cgroup v2 tree";
  Network network = Network::attach(*ground_->v2(), plimsoll::testing::base_depth() + 2);
  if (!network.why_not().empty()) GTEST_SKIP() << network.why_not();
  auto count = network.count(*id_of(*leaf_->v2()));
  ASSERT_TRUE(count);
  auto below = leaf_->v2()->make_child("sub");
  ASSERT_TRUE(below);
  std::vector<cgroup::Group::Part> parts;
  parts.push_back({std::move(*below), {}});
  const cgroup::Leaf sub("sub", std::move(parts));
  {
    // To a port where nobody listens: sent, and nothing but the refusal comes back.
    Worker worker(sub, [] {
      const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      address.sin_port = htons(9);
      char data[100] = {};
      (void)::sendto(fd, data, sizeof data, 0, reinterpret_cast<sockaddr*>(&address),
                     sizeof address);
    });
  }
  const auto usage = count->usage();
  ASSERT_TRUE(usage);
  EXPECT_EQ(usage->tx, Bytes{128});
  EXPECT_EQ(usage->tx_packets, 1U);
  EXPECT_EQ(usage->rx, Bytes{}) << "the refusal is the kernel's, not a packet of the socket";
  EXPECT_TRUE(leaf_->v2()->remove_child("sub"));
}

TEST_F(NetworkTest, AV1HierarchyIsRefusedWithAReason) {
  for (const cgroup::Group::Part& part : ground_->parts()) {
    if (part.directory.version() == cgroup::Version::v2) continue;
    EXPECT_FALSE(Network::attach(part.directory, 2).why_not().empty());
  }
}

}  // namespace
}  // namespace plimsoll::counters
