#include "kernel/procfs/parse.h"

#include <gtest/gtest.h>
#include <sys/sysmacros.h>

namespace plimsoll::procfs {
namespace {

constexpr std::string_view kLocks =
    "1: FLOCK  ADVISORY  WRITE 21382 00:1d:2663153 0 EOF\n"
    "1: -> FLOCK  ADVISORY  WRITE 77 00:1e:5 0 EOF\n"
    "2: POSIX  ADVISORY  READ  88 fe:00:10003425 128 128\n"
    "3: OFDLCK ADVISORY  WRITE -1 fe:00:10003425 0 EOF\n"
    "4: FLOCK  ADVISORY  WRITE 99 103:02:10003425 0 EOF\n"
    "5: FLOCK  ADVISORY  WRITE x 00:1f:7 0 EOF\n"
    "cut off";

std::optional<int> owner(unsigned device_major, unsigned device_minor, ino_t inode) {
  struct stat file{};
  file.st_dev = makedev(device_major, device_minor);
  file.st_ino = inode;
  return flock_owner(kLocks, file);
}

TEST(FlockOwner, IsWhoHasTakenIt) {
  EXPECT_EQ(owner(0, 0x1d, 2663153), 21382);
  EXPECT_EQ(owner(0x103, 2, 10003425), 99);
}

TEST(FlockOwner, IsNobodyOfAnotherFileOrKindOfLock) {
  EXPECT_EQ(owner(0, 0x1d, 2663154), std::nullopt);
  EXPECT_EQ(owner(0, 0x1c, 2663153), std::nullopt);
  EXPECT_EQ(owner(0, 0x1e, 5), std::nullopt) << "it waits for the lock";
  EXPECT_EQ(owner(0xfe, 0, 10003425), std::nullopt);
  EXPECT_EQ(owner(0, 0x1f, 7), std::nullopt);
}

}  // namespace
}  // namespace plimsoll::procfs
