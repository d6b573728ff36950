#include "kernel/procfs/ipc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <unistd.h>

#include <memory>
#include <string>

namespace plimsoll::procfs {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::Not;
using ::testing::Optional;

class Segment {
 public:
  Segment() : id_(::shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600)) {}
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment() { ::shmctl(id_, IPC_RMID, nullptr); }

  [[nodiscard]] int id() const { return id_; }

 private:
  int id_;
};

TEST(IpcTables, TellWhatThereIsAtEachLook) {
  IpcTables tables;
  ASSERT_TRUE(tables.objects_of(::geteuid(), {}));
  auto segment = std::make_unique<const Segment>();
  ASSERT_GE(segment->id(), 0);
  const auto is_it = Field(&IpcObject::name, std::to_string(segment->id()));
  EXPECT_THAT(tables.objects_of(::geteuid(), {}), Optional(Contains(is_it)));
  EXPECT_THAT(tables.objects_of(::geteuid() + 1, {}), Optional(Not(Contains(is_it))));
  segment.reset();
  EXPECT_THAT(tables.objects_of(::geteuid(), {}), Optional(Not(Contains(is_it))));
}

TEST(IpcTables, TellWhatWasFoundLatelyForAMomentOnly) {
  IpcTables tables;
  const Instant begin{};
  ASSERT_TRUE(tables.objects_of(::geteuid(), begin));
  const Segment segment;
  ASSERT_GE(segment.id(), 0);
  const auto is_it = Field(&IpcObject::name, std::to_string(segment.id()));
  EXPECT_THAT(tables.objects_lately(::geteuid(), begin + kIpcMoment / 2),
              Optional(Not(Contains(is_it))));
  EXPECT_THAT(tables.objects_lately(::geteuid(), begin + kIpcMoment), Optional(Contains(is_it)));
}

TEST(IpcTables, TellNobodyWhatWasFoundOfAnother) {
  IpcTables tables;
  const Segment segment;
  ASSERT_GE(segment.id(), 0);
  const auto is_it = Field(&IpcObject::name, std::to_string(segment.id()));
  EXPECT_THAT(tables.objects_of(::geteuid() + 1, {}), Optional(Not(Contains(is_it))));
  EXPECT_THAT(tables.objects_lately(::geteuid(), {}), Optional(Contains(is_it)));
}

}  // namespace
}  // namespace plimsoll::procfs
