#include "kernel/counters/group_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_group.h"

namespace plimsoll::counters {
namespace {

using namespace std::chrono_literals;
using namespace plimsoll::literals;
using cgroup::Controller;
using cgroup::ControllerSet;
using cgroup::Version;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::UnorderedElementsAre;

const ControllerSet kAll(Controller::cpu, Controller::io, Controller::memory, Controller::pids);

void fill_v2(const FakeDirectory& v2) {
  v2.write("cpu.stat",
           "usage_usec 900\nuser_usec 600\nsystem_usec 300\nnr_periods 4\n"
           "nr_throttled 1\nthrottled_usec 70\n");
  for (const auto* file : {"cpu.pressure", "memory.pressure", "io.pressure"}) {
    v2.write(file,
             "some avg10=1.00 avg60=0.00 avg300=0.00 total=500\n"
             "full avg10=0.00 avg60=0.00 avg300=0.00 total=200\n");
  }
  v2.write("memory.current", "8388608\n");
  v2.write("memory.peak", "9437184\n");
  v2.write("memory.max", "max\n");
  v2.write("memory.swap.current", "4096\n");
  v2.write("memory.events", "low 0\nhigh 3\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\n");
  v2.write("memory.stat",
           "anon 4194304\nkernel 1048576\nshmem 0\nfile_dirty 0\n"
           "file_writeback 0\nslab_reclaimable 0\n");
  v2.write("io.stat", "254:0 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0\n");
  v2.write("pids.current", "3\n");
  v2.write("pids.peak", "5\n");
  v2.write("pids.events", "max 0\n");
}

Unavailable unavailable_of(const GroupFiles& files) {
  Unavailable unavailable;
  files.note(unavailable);
  return unavailable;
}

TEST(GroupFiles, ReadsAV2Group) {
  const FakeDirectory v2(Version::v2);
  fill_v2(v2);
  const auto group = group_of(v2.part(kAll));
  GroupFiles files(group);
  files.read(Level::full, Instant(1s));
  const Sample sample = files.latest(Level::full);
  EXPECT_EQ(sample.cpu.usage, 900us);
  EXPECT_EQ(sample.cpu.throttled, 70us);
  EXPECT_EQ(sample.cpu.pressure->some->total, 500us);
  EXPECT_EQ(sample.memory.current, 8_MiB);
  EXPECT_EQ(sample.memory.used, 5_MiB);
  EXPECT_EQ(sample.memory.peak, 9_MiB);
  EXPECT_EQ(sample.memory.swap_current, 4_KiB);
  EXPECT_EQ(sample.memory.max, std::nullopt);
  EXPECT_EQ(sample.memory.events.high, 3U);
  EXPECT_EQ(sample.memory.pressure->full->total, 200us);
  EXPECT_EQ(sample.io.read, 4_KiB);
  EXPECT_TRUE(sample.io.pressure);
  EXPECT_EQ(sample.pids.current, 3U);
  EXPECT_EQ(sample.pids.peak, 5U);
  auto unavailable = unavailable_of(files);
  EXPECT_THAT(unavailable, UnorderedElementsAre(Key("memory.swap_peak_bytes"), Key("frozen")));
  EXPECT_EQ(unavailable["memory.swap_peak_bytes"], "this kernel has no memory.swap.peak");
}

TEST(GroupFiles, ACheapReadTellsOnlyWhatItRead) {
  const FakeDirectory v2(Version::v2);
  fill_v2(v2);
  const auto group = group_of(v2.part(kAll));
  GroupFiles files(group);
  files.read(Level::full, Instant(1s));
  v2.write("memory.current", "16777216\n");
  files.read(Level::cheap, Instant(2s));
  const Sample sample = files.latest(Level::cheap);
  EXPECT_EQ(sample.memory.current, 16_MiB);
  EXPECT_EQ(sample.pids.current, 3U);
  EXPECT_TRUE(sample.io.pressure);
  EXPECT_FALSE(sample.memory.used || sample.memory.stat.anon || sample.io.read);
  EXPECT_FALSE(sample.pids.peak);
  EXPECT_EQ(files.latest(Level::full).memory.used, 5_MiB) << "kept for the last look";
}

TEST(GroupFiles, OfAGroupAtRestTheRestIsReadSeldom) {
  const FakeDirectory v2(Version::v2);
  fill_v2(v2);
  const auto group = group_of(v2.part(kAll));
  GroupFiles files(group);
  const auto anon_at = [&](Duration at) {
    files.read(Level::full, Instant(at));
    return files.latest(Level::full).memory.stat.anon;
  };
  anon_at(1s);
  v2.write("memory.stat", "anon 1\n");
  EXPECT_EQ(anon_at(2s), Bytes{1}) << "memory.stat may still be behind";
  EXPECT_EQ(anon_at(3s), Bytes{1});
  v2.write("memory.stat", "anon 2\n");
  EXPECT_EQ(anon_at(4s), Bytes{1}) << "known";
  EXPECT_TRUE(files.is_at_rest(Instant(4s)));
  EXPECT_EQ(anon_at(32s), Bytes{1});
  EXPECT_EQ(anon_at(33s), Bytes{2}) << "30 s after it was read whole";

  v2.write("memory.stat", "anon 3\n");
  v2.write("memory.current", "8388609\n");
  EXPECT_EQ(anon_at(34s), Bytes{3}) << "its memory has changed";
  EXPECT_FALSE(files.is_at_rest(Instant(34s)));
  v2.write("memory.stat", "anon 4\n");
  v2.write("cpu.stat", "usage_usec 901\n");
  EXPECT_EQ(anon_at(35s), Bytes{4}) << "something has run";
}

// Who waits for a CPU, or for a disk, uses no time.
TEST(GroupFiles, WhoWaitsIsNotAtRest) {
  const FakeDirectory v2(Version::v2);
  fill_v2(v2);
  const auto group = group_of(v2.part(kAll));
  for (const char* name : {"cpu.pressure", "memory.pressure", "io.pressure"}) {
    GroupFiles files(group);
    for (const auto at : {1s, 2s, 3s, 4s}) files.read(Level::full, Instant(at));
    EXPECT_TRUE(files.is_at_rest(Instant(4s)));
    v2.write(name, "some total=" + std::to_string(*name) + "000\n");
    bool is_seen = false;  // one of the files is read in turn
    for (const auto at : {5s, 6s, 7s}) {
      files.read(Level::full, Instant(at));
      is_seen = is_seen || !files.is_at_rest(Instant(at));
    }
    EXPECT_TRUE(is_seen) << name;
  }
}

TEST(GroupFiles, TheLastLookReadsAllOfAGroupAtRest) {
  const FakeDirectory v2(Version::v2);
  fill_v2(v2);
  const auto group = group_of(v2.part(kAll));
  GroupFiles files(group);
  for (const auto at : {1s, 2s, 3s, 4s}) files.read(Level::full, Instant(at));
  v2.write("memory.stat", "anon 1\n");
  files.read_last(Instant(5s));
  EXPECT_EQ(files.latest(Level::full).memory.stat.anon, Bytes{1});
}

TEST(GroupFiles, PressureIsNotReadOftenerThanTheKernelBears) {
  const FakeDirectory v2(Version::v2);
  fill_v2(v2);
  const auto group = group_of(v2.part(kAll));
  GroupFiles files(group);
  const auto total = [&] { return files.latest(Level::cheap).cpu.pressure->some->total; };
  files.read(Level::cheap, Instant(1s));
  v2.write("cpu.pressure", "some total=800\n");
  files.read(Level::cheap, Instant(1s + 19ms));
  EXPECT_EQ(total(), 500us);
  files.read(Level::cheap, Instant(1s + 20ms));
  EXPECT_EQ(total(), 800us);
  v2.write("cpu.pressure", "some total=900\n");
  files.read_last(Instant(1s + 21ms));
  EXPECT_EQ(total(), 900us) << "the last look takes all";
}

TEST(GroupFiles, HybridTakesTimeFromV2AndTheRestFromV1) {
  const FakeDirectory v2(Version::v2), memory(Version::v1), cpu(Version::v1), acct(Version::v1);
  v2.write("cpu.stat", "usage_usec 900\nuser_usec 600\nsystem_usec 300\n");
  acct.write("cpuacct.usage", "1\n");
  cpu.write("cpu.stat", "nr_periods 9\nnr_throttled 2\nthrottled_time 5000\n");
  memory.write("memory.usage_in_bytes", "8388608\n");
  memory.write("memory.max_usage_in_bytes", "9437184\n");
  memory.write("memory.limit_in_bytes", "16777216\n");
  memory.write("memory.failcnt", "4\n");
  memory.write("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
  memory.write("memory.kmem.usage_in_bytes", "1048576\n");
  memory.write("memory.stat",
               "total_rss 4194304\ntotal_shmem 0\ntotal_dirty 0\n"
               "total_writeback 0\ntotal_swap 8192\ntotal_pgfault 77\n");
  const auto group = group_of(v2.part({}), memory.part(ControllerSet(Controller::memory)),
                              cpu.part(ControllerSet(Controller::cpu)),
                              acct.part(ControllerSet(Controller::cpuacct)));
  GroupFiles files(group);
  files.read(Level::full, Instant(1s));
  const Sample sample = files.latest(Level::full);
  EXPECT_EQ(sample.cpu.usage, 900us);
  EXPECT_EQ(sample.cpu.nr_throttled, 2U);
  EXPECT_EQ(sample.cpu.throttled, 5us);
  EXPECT_EQ(sample.memory.current, 8_MiB);
  EXPECT_EQ(sample.memory.peak, 9_MiB);
  EXPECT_EQ(sample.memory.max, 16_MiB);
  EXPECT_EQ(sample.memory.used, 5_MiB);
  EXPECT_EQ(sample.memory.swap_current, 8_KiB);
  EXPECT_EQ(sample.memory.events.max, 4U);
  EXPECT_EQ(sample.memory.events.oom_kill, 1U);
  EXPECT_EQ(sample.memory.stat.pgfault, 77U);
  auto unavailable = unavailable_of(files);
  EXPECT_EQ(unavailable["pids"], "the group has no pids controller");
  EXPECT_THAT(unavailable["io"], ::testing::HasSubstr("the group has no io controller"));
  EXPECT_EQ(unavailable["cpu.pressure"], "this kernel has no cpu.pressure");
}

TEST(GroupFiles, WithoutV2TimeComesFromCpuacctAndThereIsNoPressure) {
  const FakeDirectory acct(Version::v1);
  acct.write("cpuacct.usage", "7000\n");
  acct.write("cpuacct.stat", "user 1\nsystem 2\n");
  const auto group = group_of(acct.part(ControllerSet(Controller::cpuacct)));
  GroupFiles files(group);
  files.read(Level::full, Instant(1s));
  const Sample sample = files.latest(Level::full);
  EXPECT_EQ(sample.cpu.usage, 7us);
  EXPECT_GT(sample.cpu.system, sample.cpu.user);
  EXPECT_FALSE(sample.cpu.pressure);
  const auto unavailable = unavailable_of(files);
  EXPECT_THAT(unavailable, Contains(Key("memory.pressure")));
  EXPECT_THAT(unavailable, Contains(Key("memory")));
  EXPECT_THAT(unavailable, Not(Contains(Key("cpu"))));
}

// As after a kill of much: memory.stat may lag, memory.current does not.
TEST(GroupFiles, NoMoreIsInUseThanIsCharged) {
  const FakeDirectory memory(Version::v2);
  memory.write("memory.current", std::to_string(3 << 20) + "\n");
  memory.write("memory.stat", "anon " + std::to_string(9 << 20) +
                                  "\nshmem 0\nfile_dirty 0\nfile_writeback 0\nkernel 0\n");
  const auto group = group_of(memory.part(ControllerSet(Controller::memory)));
  GroupFiles files(group);
  files.read(Level::full, Instant(1s));
  EXPECT_EQ(files.latest(Level::full).memory.used, 3_MiB);
}

TEST(GroupFiles, BlkioThatNamesNoDeviceIsAbsentNotZero) {
  const FakeDirectory io(Version::v1);
  io.write("blkio.throttle.io_service_bytes", "Total 0\n");
  io.write("blkio.throttle.io_serviced", "Total 0\n");
  const auto group = group_of(io.part(ControllerSet(Controller::io)));
  GroupFiles files(group);
  files.read(Level::full, Instant(1s));
  EXPECT_EQ(files.latest(Level::full).io.written, std::nullopt);
  EXPECT_THAT(unavailable_of(files)["io"], HasSubstr("no device"));

  io.write("blkio.throttle.io_service_bytes", "8:0 Read 0\n8:0 Write 4096\nTotal 4096\n");
  files.read(Level::full, Instant(2s));
  EXPECT_EQ(files.latest(Level::full).io.written, 4_KiB);
  EXPECT_THAT(unavailable_of(files), Not(Contains(Key("io"))));
}

// As the kernel has a group that was used by one small process.
void fill_used(const FakeDirectory& v2) {
  fill_v2(v2);
  v2.write("memory.current", "200704\n");
  v2.write("memory.peak", "400000\n");
  v2.write("memory.swap.current", "0\n");
  v2.write("memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n");
  v2.write("pids.current", "0\n");
  v2.write("pids.peak", "1\n");
}

TEST(GroupFiles, AGroupThatIsAsNewBeginsAgain) {
  const FakeDirectory v2(Version::v2);
  fill_used(v2);
  const auto group = group_of(v2.part(kAll));
  GroupFiles files(group);
  files.read_last(Instant(1s));
  ASSERT_TRUE(files.begin_again(group, Instant(1s)));
  EXPECT_EQ(files.latest(Level::full).cpu.usage, 0us);
  v2.write("cpu.stat", "usage_usec 1000\nuser_usec 600\nsystem_usec 400\n");
  files.read_last(Instant(2s));
  const Sample used = files.latest(Level::full);
  EXPECT_EQ(used.cpu.usage, 100us) << "900 were the first one's";
  EXPECT_EQ(used.cpu.pressure->some->total, 0us);
  EXPECT_EQ(used.io.read, Bytes{});
  EXPECT_EQ(used.memory.current, Bytes{});
  std::ifstream peak(v2.path() / "memory.peak");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(peak), {}).substr(0, 1), "0") << "is reset";
}

TEST(GroupFiles, AGroupThatIsToldFromANewOneDoesNotBeginAgain) {
  struct Case {
    const char* what;
    const char* file;
    const char* text;
  };
  for (const Case& one : {Case{"processes beside each other", "pids.peak", "2\n"},
                          Case{"somebody who is left", "pids.current", "1\n"},
                          Case{"forks that were refused", "pids.events", "max 1\n"},
                          Case{"memory that is left", "memory.current", "2000000\n"},
                          Case{"memory in swap", "memory.swap.current", "4096\n"},
                          Case{"a limit", "memory.max", "1000000\n"},
                          Case{"an OOM kill", "memory.events", "max 0\noom 0\noom_kill 1\n"},
                          Case{"memory.high passed", "memory.events", "high 1\nmax 0\noom 0\n"}}) {
    SCOPED_TRACE(one.what);
    const FakeDirectory v2(Version::v2);
    fill_used(v2);
    v2.write(one.file, one.text);
    const auto group = group_of(v2.part(kAll));
    GroupFiles files(group);
    files.read_last(Instant(1s));
    EXPECT_FALSE(files.begin_again(group, Instant(1s)));
  }
}

TEST(GroupFiles, NeitherDoesOneWithSubGroups) {
  const FakeDirectory v2(Version::v2);
  fill_used(v2);
  std::filesystem::create_directory(v2.path() / "below");
  const auto group = group_of(v2.part(kAll));
  GroupFiles files(group);
  files.read_last(Instant(1s));
  EXPECT_FALSE(files.begin_again(group, Instant(1s)));
}

}  // namespace
}  // namespace plimsoll::counters
