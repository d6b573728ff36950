#include "supervisor/oom_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "unit/kernel/counters/fake_group.h"

namespace plimsoll::supervisor {
namespace {

using namespace plimsoll::literals;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// A pool in a service in the root of a tree, as v2 shows them.
class OomWatchTest : public testing::Test {
 protected:
  OomWatchTest() {
    std::filesystem::create_directories(at("service/pool"));
    for (const char* group : {"", "service", "service/pool"}) write(group, "cgroup.procs", "");
    for (const char* group : {"service", "service/pool"}) {
      write(group, "memory.max", "max\n");
      write(group, "memory.events.local", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n");
    }
  }

  std::filesystem::path at(const std::string& group) const { return root_.path() / group; }
  void write(const std::string& group, const std::string& file, const std::string& text) const {
    std::ofstream(at(group) / file) << text;
  }
  cgroup::Directory pool() const {
    return *cgroup::Directory::open(at("service/pool"), cgroup::Version::v2);
  }

  const counters::FakeDirectory root_{cgroup::Version::v2};
  loop::Loop loop_ = std::move(*loop::Loop::create());
};

TEST_F(OomWatchTest, CountsAtThePoolAndAtEachGroupAboveThatHasALimit) {
  const cgroup::Directory memory = pool();
  OomWatch watch(loop_, &memory);
  const OomWatch::Counts before = watch.counts();
  EXPECT_THAT(before, SizeIs(2)) << "the root has no limit";
  write("service", "memory.events.local", "oom 3\n");
  write("service", "memory.max", "1073741824\n");
  write("service", "memory.peak", "1073741000\n");
  const auto groups = watch.since(before);
  ASSERT_THAT(groups, SizeIs(2));
  EXPECT_EQ(groups[0].level, policy::OomLevel::pool);
  EXPECT_EQ(groups[0].ooms, 0u);
  EXPECT_EQ(groups[1].level, policy::OomLevel::ancestor);
  EXPECT_THAT(groups[1].name, testing::EndsWith("/service"));
  EXPECT_EQ(groups[1].ooms, 3u);
  EXPECT_EQ(groups[1].limit, 1_GiB);
  EXPECT_EQ(groups[1].peak, Bytes{1073741000});
  EXPECT_TRUE(watch.sees_all());
}

TEST_F(OomWatchTest, WhatWasThereBeforeIsNobodysOfNow) {
  write("service/pool", "memory.events.local", "oom 7\n");
  const cgroup::Directory memory = pool();
  OomWatch watch(loop_, &memory);
  const OomWatch::Counts before = watch.counts();
  EXPECT_EQ(watch.since(before)[0].ooms, 0u);
  write("service/pool", "memory.events.local", "oom 8\n");
  EXPECT_EQ(watch.since(before)[0].ooms, 1u);
}

TEST_F(OomWatchTest, AGroupThatCanNotBeReadLeavesADoubtThatIsNamed) {
  std::filesystem::remove(at("service/memory.events.local"));
  const cgroup::Directory memory = pool();
  OomWatch watch(loop_, &memory);
  EXPECT_FALSE(watch.sees_all());
  EXPECT_FALSE(watch.status().works);
  EXPECT_THAT(watch.status().health, HasSubstr("/service: memory.events can't be opened"));
}

TEST_F(OomWatchTest, WithoutAMemoryControllerNothingIsSeen) {
  OomWatch watch(loop_, nullptr);
  EXPECT_THAT(watch.counts(), IsEmpty());
  EXPECT_THAT(watch.since({}), IsEmpty());
  EXPECT_FALSE(watch.sees_all());
  EXPECT_THAT(watch.status().health, HasSubstr("missing"));
}

}  // namespace
}  // namespace plimsoll::supervisor
