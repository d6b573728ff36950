// Each number of a group against what a process in it has done, on the cgroups of this host.

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>

#include "cgroup/group.h"
#include "cgroup/hierarchies.h"
#include "measure/group_files.h"
#include "measure/job_sampler.h"
#include "measure/network.h"
#include "measure/system_sampler.h"

namespace plimsoll::measure {
namespace {

using namespace std::chrono_literals;
using namespace plimsoll::literals;
using cgroup::Controller;
using cgroup::ControllerSet;
using testing::AllOf;
using testing::Contains;
using testing::Ge;
using testing::Key;
using testing::Le;
using testing::Lt;
using testing::Not;
using testing::Optional;

Instant now() { return std::chrono::steady_clock::now(); }
WallTime wall() { return std::chrono::system_clock::now(); }

constexpr ControllerSet kMeasured(Controller::cpu, Controller::cpuacct, Controller::io,
                                  Controller::memory, Controller::pids);
constexpr const char* kGround = "plimsoll-test-measure";

// A group of ours at the root of each hierarchy of the host.
std::unique_ptr<cgroup::Inner> make_ground(const cgroup::Hierarchies& host) {
  std::vector<cgroup::Group::Part> parts;
  for (const cgroup::Hierarchy& hierarchy : host.all) {
    const bool is_v2 = hierarchy.version == cgroup::Version::v2;
    if (!is_v2 && !hierarchy.controllers.has_any(kMeasured)) continue;
    auto root = cgroup::Directory::open(hierarchy.mount_point, hierarchy.version);
    if (!root) return nullptr;
    if (is_v2) {
      if (!cgroup::enable_for_children(*root, hierarchy.controllers & kMeasured)) return nullptr;
    }
    auto ground = root->make_child(kGround);
    if (!ground) return nullptr;
    parts.push_back({std::move(*ground), hierarchy.controllers & kMeasured});
  }
  return std::make_unique<cgroup::Inner>(kGround, std::move(parts));
}

void remove_ground(const cgroup::Hierarchies& host) {
  for (const cgroup::Hierarchy& hierarchy : host.all) {
    auto root = cgroup::Directory::open(hierarchy.mount_point, hierarchy.version);
    if (!root) continue;
    // What a test that crashed has left.
    if (const auto ground = root->open_child(kGround)) {
      if (const auto left = ground->children()) {
        for (const std::string& name : *left) (void)ground->remove_child(name);
      }
    }
    (void)root->remove_child(kGround);
  }
}

// A process in a group, which works, says so and waits to be let go.
class Worker {
 public:
  Worker(const cgroup::Leaf& leaf, const std::function<void()>& work) {
    int said[2], go[2];
    EXPECT_EQ(::pipe2(said, O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(go, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(go[1]);
      if (!cgroup::move_process(leaf, 0)) ::_exit(1);
      work();
      char byte = 0;
      if (::write(said[1], &byte, 1) != 1 || ::read(go[0], &byte, 1) != 0) ::_exit(2);
      ::_exit(0);
    }
    ::close(said[1]);
    ::close(go[0]);
    go_ = UniqueFd(go[1]);
    char byte = 0;
    EXPECT_EQ(::read(said[0], &byte, 1), 1) << "the worker failed";
    ::close(said[0]);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() { end(); }

  void end() {
    if (pid_ <= 0) return;
    go_ = {};
    int status = 0;
    ::waitpid(pid_, &status, 0);
    EXPECT_EQ(status, 0);
    pid_ = 0;
  }

 private:
  int pid_ = 0;
  UniqueFd go_;
};

void touch(std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) ::_exit(3);
  std::memset(memory, 1, bytes);
}

// Uses this much CPU time of its own, most of it outside the kernel, however busy the machine is.
void burn(Duration time) {
  timespec used{};
  const auto so_far = [&used] {
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
  };
  volatile unsigned work = 0;
  while (so_far() < time) {
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

class MeasureTest : public testing::Test {
 protected:
  void SetUp() override {
    auto found = cgroup::discover_hierarchies();
    ASSERT_TRUE(found);
    host_ = std::move(*found);
    remove_ground(host_);
    ground_ = make_ground(host_);
    if (ground_ == nullptr) GTEST_SKIP() << "no right to make cgroups at the roots of this host";
    auto leaf = ground_->make_leaf("job", kMeasured);
    ASSERT_TRUE(leaf) << leaf.error().message();
    leaf_ = std::make_unique<cgroup::Leaf>(std::move(*leaf));
  }
  void TearDown() override {
    if (ground_ != nullptr) remove_leaf();
    remove_ground(host_);
  }

  // A process that was collected can be listed for a moment still.
  void remove_leaf() const {
    const Instant end = now() + 5s;
    while (now() < end) {
      if (ground_->remove_child("job")) return;
    }
    ADD_FAILURE() << "the group could not be removed";
  }

  // Controllers that the host has; the others must be said to be missing.
  [[nodiscard]] bool has(Controller controller) const { return leaf_->of(controller) != nullptr; }

  cgroup::Hierarchies host_;
  std::unique_ptr<cgroup::Inner> ground_;
  std::unique_ptr<cgroup::Leaf> leaf_;
  Network no_network_{"not asked for"};
};

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

TEST_F(MeasureTest, NetworkTrafficIsTheJobsOwn) {
  if (leaf_->v2() == nullptr) GTEST_SKIP() << "no cgroup v2 tree";
  Network network = Network::attach(*ground_->v2(), 2);
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

TEST_F(MeasureTest, NetworkCountsTheDirectionsApartAndSubGroupsToo) {
  if (leaf_->v2() == nullptr) GTEST_SKIP() << "no cgroup v2 tree";
  Network network = Network::attach(*ground_->v2(), 2);
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

TEST_F(MeasureTest, AV1HierarchyIsRefusedWithAReason) {
  for (const cgroup::Group::Part& part : ground_->parts()) {
    if (part.directory.version() == cgroup::Version::v2) continue;
    EXPECT_FALSE(Network::attach(part.directory, 2).why_not().empty());
  }
}

TEST_F(MeasureTest, OfARemovedGroupTheLastReadingStands) {
  GroupFiles files(*leaf_, GroupAge::fresh);
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

  GroupFiles late(*leaf_, GroupAge::fresh);
  late.read(Level::full, now());
  EXPECT_TRUE(late.gone());
  Unavailable unavailable;
  late.note(unavailable);
  EXPECT_THAT(unavailable, Not(Contains(Key("cpu")))) << "says nothing about the kernel";
}

TEST_F(MeasureTest, AReusedGroupStartsFromZero) {
  const cgroup::Directory* memory = leaf_->of(Controller::memory);
  if (memory == nullptr || memory->version() == cgroup::Version::v2) {
    GTEST_SKIP() << "groups of v2 are not used again";
  }
  Worker(*leaf_, [] {
    touch(64 << 20);
    burn(100ms);
  }).end();
  ASSERT_TRUE(memory->write("memory.max_usage_in_bytes", "0"));
  JobSampler sampler(*leaf_, now(), no_network_, GroupAge::reused);
  Worker(*leaf_, [] { touch(4 << 20); }).end();
  const JobUsage usage = sampler.finish(now(), wall());
  EXPECT_THAT(usage.totals.cpu.usage, Optional(Lt(90ms)));
  EXPECT_THAT(usage.totals.memory.peak, Optional(Lt(32_MiB)));
  EXPECT_THAT(usage.totals.memory.stat.pgfault, Optional(AllOf(Ge(1U), Lt(12000U))));
}

TEST(SystemSampler, TellsOfThisMachine) {
  SystemSampler sampler;
  const SystemSample first = sampler.sample(now(), wall());
  burn(50ms);
  const SystemSample second = sampler.sample(now() + 1s, wall());
  ASSERT_TRUE(first.cpu && second.cpu);
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
}  // namespace plimsoll::measure
