// Each number of a group against what a process in it has done, on the cgroups of this host.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cstring>
#include <filesystem>

#include "kernel/counters/group_files.h"
#include "kernel/counters/job_sampler.h"
#include "kernel/counters/system_sampler.h"
#include "worker.h"

namespace plimsoll::counters {
namespace {

using namespace std::chrono_literals;
using namespace plimsoll::literals;
using cgroup::Controller;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Ge;
using ::testing::Key;
using ::testing::Le;
using ::testing::Lt;
using ::testing::Not;
using ::testing::Optional;

void touch(std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) ::_exit(3);
  std::memset(memory, 1, bytes);
}

// Uses this much more CPU time outside the kernel, however busy the machine is.
void burn(Duration time) {
  const auto so_far = [] {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return std::chrono::seconds(used.ru_utime.tv_sec) +
           std::chrono::microseconds(used.ru_utime.tv_usec);
  };
  const auto end = so_far() + time;
  volatile unsigned work = 0;
  while (so_far() < end) {
    for (unsigned i = 0; i < 100'000; ++i) work = work + i;
  }
}

// Writes a file and waits until it is on the disk.
void write_file(std::size_t bytes) {
  const int fd = ::open(".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
  if (fd < 0) ::_exit(3);
  const std::vector<char> block(1 << 20, 'x');
  for (std::size_t done = 0; done < bytes; done += block.size()) {
    if (::write(fd, block.data(), block.size()) < 0) ::_exit(4);
  }
  if (::fsync(fd) != 0) ::_exit(5);
}

TEST_F(MeasureTest, MemoryCpuAndProcessesAreWhatTheWorkerUsed) {
  const Instant start = now();
  JobSampler sampler(*leaf_, start, no_network_);
  Worker worker(*leaf_, [] {
    touch(64 << 20);
    burn(200ms);
  });
  const Sample running = sampler.sample(now(), wall());
  worker.end();
  const JobUsage usage = sampler.finish(now(), wall());

  EXPECT_THAT(usage.totals.cpu.usage, Optional(AllOf(Ge(190ms), Lt(2s))));
  EXPECT_THAT(usage.totals.cpu.user, Optional(Ge(100ms)));
  if (has(Controller::memory)) {
    EXPECT_THAT(running.memory.current, Optional(AllOf(Ge(64_MiB), Le(80_MiB))));
    EXPECT_THAT(running.memory.used, Optional(AllOf(Ge(63_MiB), Le(80_MiB))));
    EXPECT_THAT(running.memory.stat.anon, Optional(AllOf(Ge(63_MiB), Le(72_MiB))));
    EXPECT_THAT(usage.totals.memory.peak, Optional(AllOf(Ge(64_MiB), Le(80_MiB))));
    EXPECT_THAT(usage.totals.memory.current, Optional(Lt(32_MiB)));
    EXPECT_THAT(usage.stat_at_peak.anon, Optional(Ge(63_MiB)));
    EXPECT_THAT(usage.totals.memory.stat.pgfault, Optional(Ge(30U)));
    EXPECT_EQ(usage.totals.memory.max, std::nullopt);
    EXPECT_THAT(usage.totals.memory.events.oom_kill, Optional(0U));
  }
  if (has(Controller::pids)) {
    EXPECT_THAT(running.pids.current, Optional(1U));
    EXPECT_THAT(usage.totals.pids.current, Optional(0U));
    EXPECT_THAT(usage.totals.pids.events_max, Optional(0U));
  }
  if (leaf_->v2() != nullptr && std::filesystem::exists("/proc/pressure")) {
    EXPECT_TRUE(usage.totals.cpu.pressure && usage.totals.cpu.pressure->some);
    EXPECT_TRUE(usage.totals.memory.pressure && usage.totals.io.pressure);
  }
  EXPECT_EQ(usage.samples.size(), 2U);
}

TEST_F(MeasureTest, StallsOfACrowdAreSeen) {
  if (leaf_->v2() == nullptr || !leaf_->v2()->has_file("cpu.pressure")) {
    GTEST_SKIP() << "no pressure accounting";
  }
  const auto cpus = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  JobSampler sampler(*leaf_, now(), no_network_);
  const Instant start = now();
  {
    // Twice as many as there are CPUs, each with half of one: somebody always waits.
    Worker crowd(*leaf_, [cpus] {
      for (int i = 1; i < 2 * cpus; ++i) {
        if (::fork() == 0) {
          burn(300ms);
          ::_exit(0);
        }
      }
      burn(300ms);
      while (::wait(nullptr) > 0) {
      }
    });
  }
  const JobUsage usage = sampler.finish(now(), wall());
  const Duration length = now() - start;
  EXPECT_THAT(usage.totals.cpu.pressure->some->total, AllOf(Ge(length / 5), Le(length + 50ms)));
  EXPECT_THAT(usage.totals.cpu.usage, Optional(Ge(cpus * 500ms)));
  if (has(Controller::pids)) {
    // Not every kernel has pids.peak, and then nothing is said in its place.
    const auto& peak = usage.totals.pids.peak;
    EXPECT_TRUE(peak ? *peak == 2U * static_cast<unsigned>(cpus)
                     : usage.unavailable.contains("pids.peak"));
  }
}

TEST_F(MeasureTest, WrittenBytesAreCountedOrSaidToBeUnknown) {
  JobSampler sampler(*leaf_, now(), no_network_);
  Worker worker(*leaf_, [] { write_file(16 << 20); });
  worker.end();
  const JobUsage usage = sampler.finish(now(), wall());
  const auto& written = usage.totals.io.written;
  // A disk in memory (tmpfs) or a file system that writes from another process counts nothing.
  if (written && *written > Bytes{}) {
    EXPECT_THAT(written, Optional(AllOf(Ge(16_MiB), Le(32_MiB))));
    EXPECT_THAT(usage.totals.io.write_ops, Optional(Ge(1U)));
  } else if (!written) {
    EXPECT_THAT(usage.unavailable, Contains(Key("io")));
  }
  if (has(Controller::memory)) {
    EXPECT_THAT(usage.totals.memory.peak, Optional(Ge(16_MiB))) << "page cache is charged";
  }
}

TEST_F(MeasureTest, OfARemovedGroupTheLastReadingStands) {
  GroupFiles files(*leaf_);
  Worker worker(*leaf_, [] { touch(8 << 20); });
  files.read(Level::full, now());
  const Sample before = files.latest(Level::full);
  worker.end();
  remove_leaf();
  EXPECT_FALSE(files.gone()) << "not noticed before the next read";
  files.read(Level::cheap, now());
  EXPECT_TRUE(files.gone());
  const Sample after = files.latest(Level::cheap);
  EXPECT_EQ(after.cpu.usage, before.cpu.usage);
  EXPECT_EQ(after.memory.current, before.memory.current);
  EXPECT_EQ(after.memory.stat.anon, before.memory.stat.anon);
  EXPECT_EQ(after.pids.current, before.pids.current);

  GroupFiles late(*leaf_);
  late.read(Level::full, now());
  EXPECT_TRUE(late.gone());
  Unavailable unavailable;
  late.note(unavailable);
  EXPECT_THAT(unavailable, Not(Contains(Key("cpu")))) << "says nothing about the kernel";
}

TEST_F(MeasureTest, SharedMemoryThatOutlivesAJobIsTold) {
  if (!has(Controller::memory)) GTEST_SKIP() << "no memory controller";
  const UniqueFd file(::memfd_create("left", MFD_CLOEXEC));
  const auto leave = [&file] {
    const std::vector<char> block(1 << 20, 'x');
    for (int i = 0; i < 24; ++i) {
      if (::write(file.get(), block.data(), block.size()) < 0) ::_exit(4);
    }
  };
  JobSampler sampler(*leaf_, now(), no_network_);
  Worker(*leaf_, leave).end();
  EXPECT_THAT(sampler.finish(now(), wall()).left, Optional(AllOf(Ge(20_MiB), Le(28_MiB))));
}

TEST_F(MeasureTest, MemoryThatGoesWithAJobIsNotToldAsLeft) {
  JobSampler sampler(*leaf_, now(), no_network_);
  Worker(*leaf_, [] { touch(32 << 20); }).end();
  EXPECT_EQ(sampler.finish(now(), wall()).left, std::nullopt);
}

TEST(SystemSampler, TellsOfThisMachine) {
  SystemSampler sampler;
  const SystemSample first = sampler.sample(now(), wall());
  ASSERT_TRUE(first.cpu);
  // Whole ticks are counted, and those of a virtual machine that others had are nobody's.
  const Instant end = now() + 60s;
  SystemSample second = first;
  while (second.cpu && busy_time(*second.cpu) == busy_time(*first.cpu) && now() < end) {
    burn(50ms);
    second = sampler.sample(now() + 1s, wall());
  }
  ASSERT_TRUE(second.cpu);
  EXPECT_GT(busy_time(*second.cpu), busy_time(*first.cpu));
  const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  EXPECT_EQ(first.meminfo.at("MemTotal"), Bytes{pages * page});
  EXPECT_LT(first.meminfo.at("MemAvailable"), first.meminfo.at("MemTotal"));
  EXPECT_THAT(first.processes_running, Optional(Ge(1U)));
  Unavailable unavailable;
  sampler.note(unavailable);
  EXPECT_EQ(first.memory_pressure.has_value(), !unavailable.contains("machine.pressure.memory"));
}

}  // namespace
}  // namespace plimsoll::counters
