// The spool and the results on a file system that is really full: a small tmpfs of the test's own.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cstring>
#include <filesystem>
#include <thread>

#include "base/file.h"
#include "supervisor/output/collector.h"

namespace plimsoll::output {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::SizeIs;

struct Told : OutputObserver {
  void on_received(const Ended& /*ended*/) override {}
  void on_trouble(const Trouble& trouble) override { troubles.push_back(trouble); }
  void on_lost(const Lost& /*lost*/) override {}
  void on_drained() override { drained = true; }
  std::vector<Trouble> troubles;
  bool drained = false;
};

struct SmallDisk : ::testing::Test {
  SmallDisk() {
    std::string name = "/var/tmp/plimsoll-disk-XXXXXX";
    directory = ::mkdtemp(name.data());
    if (::mount("none", directory.c_str(), "tmpfs", 0, "size=1m") != 0) {
      why_not = std::strerror(errno);
    }
  }
  ~SmallDisk() override {
    if (!why_not) ::umount2(directory.c_str(), MNT_DETACH);
    std::filesystem::remove(directory);
  }
  void SetUp() override {
    if (why_not) GTEST_SKIP() << "this host lets us mount nothing: " << *why_not;
  }
  void make_room() const {
    ASSERT_EQ(::mount("none", directory.c_str(), "tmpfs", MS_REMOUNT, "size=64m"), 0);
  }

  // A job that writes `text` meets the full disk, waits, and goes on when there is room.
  void write_more_than_fits(Config config, std::string_view text) {
    loop::Loop loop = std::move(*loop::Loop::create());
    Told told;
    const std::vector<Trouble>& troubles = told.troubles;
    config.retry_after = 1ms;
    auto collector = Collector::start(loop, config, told);
    ASSERT_TRUE(collector) << collector.error().message();
    auto job = (*collector)->open({.job = JobId{5}, .name = "five"});
    ASSERT_TRUE(job);
    std::thread program([&] {
      auto rest = text;
      while (!rest.empty()) {
        const ssize_t wrote = ::write(job->out.get(), rest.data(), rest.size());
        if (wrote <= 0) break;
        rest.remove_prefix(static_cast<std::size_t>(wrote));
      }
      job->out = UniqueFd();
      job->err = UniqueFd();
    });
    while (troubles.empty()) ASSERT_TRUE(loop.run_once(Duration(-1)));
    EXPECT_EQ(troubles[0].job, JobId{5});
    EXPECT_EQ(troubles[0].error.code, std::errc::no_space_on_device);
    EXPECT_THAT(troubles[0].error.message(), HasSubstr(directory));
    make_room();
    program.join();
    job->capture.finish(Disposition::keep);
    (*collector)->drain();
    while (!told.drained) ASSERT_TRUE(loop.run_once(Duration(-1)));
    EXPECT_THAT(troubles, SizeIs(1));
  }

  std::string directory;
  std::optional<std::string> why_not;
};

std::string lines(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

TEST_F(SmallDisk, OfTheSpool) {
  const std::string text = lines(300'000);
  const UniqueFd out(::open("/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  write_more_than_fits({.out = out.get(), .spool_dir = directory}, text);
  EXPECT_EQ(read_text(out.get()).value_or("?"), text);
}

TEST_F(SmallDisk, OfTheResults) {
  const std::string text = lines(300'000);
  const UniqueFd out(::open("/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  write_more_than_fits(
      {.out = out.get(), .spool_dir = "/var/tmp", .results_dir = directory + "/results"}, text);
  EXPECT_EQ(read_text(out.get()).value_or("?"), text);
  EXPECT_EQ(read_text_at(AT_FDCWD, directory + "/results/five/stdout").value_or("?"), text);
}

}  // namespace
}  // namespace plimsoll::output
