#include "guardian/channel.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace plimsoll::guardian {
namespace {

using ::testing::SizeIs;

ino_t inode(int fd) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 ? status.st_ino : 0;
}

std::ptrdiff_t open_descriptors() {
  const std::filesystem::directory_iterator list("/proc/self/fd");
  return std::distance(begin(list), end(list));
}

class ChannelTest : public ::testing::Test {
 protected:
  std::pair<Channel, Channel> ends_ = *Channel::make_pair();
  Channel& here_ = ends_.first;
  Channel& there_ = ends_.second;
};

TEST_F(ChannelTest, CarriesPacketsOfEverySizeAsTheyAre) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, Channel::kInlineBytesMax - 1, Channel::kInlineBytesMax,
        Channel::kInlineBytesMax + 1, std::size_t{2} << 20, Channel::kPacketBytesMax}) {
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7);
    ASSERT_TRUE(here_.send(bytes, {})) << size;
    const auto packet = there_.receive();
    ASSERT_TRUE(packet) << size;
    EXPECT_TRUE(packet->bytes == bytes) << size;
    EXPECT_THAT(packet->fds, SizeIs(0)) << size;
  }
}

TEST_F(ChannelTest, RefusesWhatIsTooMuch) {
  EXPECT_FALSE(here_.send(std::string(Channel::kPacketBytesMax + 1, 'x'), {}));
  EXPECT_FALSE(here_.send("x", std::vector<int>(Channel::kPacketFdsMax, 0)));
  EXPECT_EQ(there_.receive().error().code, std::errc::resource_unavailable_try_again);
}

TEST_F(ChannelTest, CarriesDescriptorsInTheirOrderCloseOnExec) {
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const UniqueFd root(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (const std::size_t size : {std::size_t{3}, Channel::kInlineBytesMax + 1}) {
    ASSERT_TRUE(here_.send(std::string(size, 'x'), {root.get(), null.get(), root.get()}));
    const auto packet = there_.receive();
    ASSERT_TRUE(packet);
    ASSERT_THAT(packet->fds, SizeIs(3));
    EXPECT_EQ(inode(packet->fds[0].get()), inode(root.get()));
    EXPECT_EQ(inode(packet->fds[1].get()), inode(null.get()));
    EXPECT_EQ(inode(packet->fds[2].get()), inode(root.get()));
    for (const UniqueFd& fd : packet->fds) {
      EXPECT_NE(::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC, 0);
    }
  }
}

TEST_F(ChannelTest, CarriesAsManyDescriptorsAsItSays) {
  const std::vector<int> fds(Channel::kPacketFdsMax - 1, 0);
  ASSERT_TRUE(here_.send(std::string(Channel::kInlineBytesMax + 1, 'x'), fds));
  const auto packet = there_.receive();
  ASSERT_TRUE(packet);
  EXPECT_THAT(packet->fds, SizeIs(fds.size()));
}

TEST_F(ChannelTest, KeepsPacketsApartAndInOrder) {
  ASSERT_TRUE(here_.send("one", {}));
  ASSERT_TRUE(here_.send("", {}));
  ASSERT_TRUE(here_.send("three", {0}));
  EXPECT_EQ(there_.receive()->bytes, "one");
  EXPECT_EQ(there_.receive()->bytes, "");
  const auto third = there_.receive();
  EXPECT_EQ(third->bytes, "three");
  EXPECT_THAT(third->fds, SizeIs(1));
}

TEST_F(ChannelTest, WithoutAPacketTellsWhetherTheOtherSideIsThere) {
  EXPECT_EQ(there_.receive().error().code, std::errc::resource_unavailable_try_again);
  EXPECT_FALSE(there_.other_is_gone());
  ASSERT_TRUE(here_.send("last", {}));
  {
    const Channel gone = std::move(here_);
  }
  EXPECT_EQ(there_.receive()->bytes, "last");
  EXPECT_EQ(there_.receive().error().code, std::errc::connection_reset);
  EXPECT_TRUE(there_.other_is_gone());
  EXPECT_EQ(there_.send("x", {}).error().code, std::errc::broken_pipe);
}

TEST_F(ChannelTest, AKilledSendersPacketIsAnErrorAndNoLeak) {
  const auto before = open_descriptors();
  // Not from our send(): the body of a memfd packet without its memfd, and an empty packet.
  ASSERT_EQ(::send(here_.fd(), "m", 1, 0), 1);
  ASSERT_EQ(::send(here_.fd(), "i", 1, 0), 1);
  (void)there_.receive();
  EXPECT_EQ(there_.receive()->bytes, "");
  ASSERT_TRUE(here_.send("x", {0, 0}));
  (void)there_.receive();
  EXPECT_EQ(open_descriptors(), before);
}

RC_GTEST_PROP(ChannelProperty, WhatIsSentIsReceived, ()) {
  auto ends = *Channel::make_pair();
  const auto bytes = *rc::gen::arbitrary<std::string>();
  const auto count = *rc::gen::inRange<std::size_t>(0, 10);
  RC_ASSERT(ends.first.send(bytes, std::vector<int>(count, 0)).has_value());
  const auto packet = ends.second.receive();
  RC_ASSERT(packet.has_value());
  RC_ASSERT(packet->bytes == bytes);
  RC_ASSERT(packet->fds.size() == count);
}

}  // namespace
}  // namespace plimsoll::guardian
