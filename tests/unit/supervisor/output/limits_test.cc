// Readers that go, disks that are full, floods.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <thread>

#include "base/text.h"
#include "stage.h"
#include "supervisor/output/collector.h"

namespace plimsoll::output {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Numbered lines of 16 bytes: what is missing, twice there or out of place shows.
std::string numbered(std::size_t from, std::size_t to) {
  std::string text;
  text.reserve((to - from) * 16);
  for (std::size_t i = from; i < to; ++i) {
    std::string number = std::to_string(i);
    text += std::string(15 - number.size(), '0') + number + '\n';
  }
  return text;
}

// The limit on the size of files of this process: for a write the same as a full disk, but one that
// any user can make and lift.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(Bytes limit) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{.rlim_cur = limit.count, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST(Reader, WhenItGoesThatIsToldOnceAndJobsGoOn) {
  TestPipe pipe;
  Stage stage({.out = pipe.write.get()});
  pipe.write = UniqueFd();
  pipe.read = UniqueFd();
  for (unsigned i = 1; i <= 3; ++i) {
    Job job = stage.open(i);
    job.says(numbered(0, 100'000));
    job.complains("still here\n");
    job.ends();
  }
  stage.drain();
  ASSERT_THAT(stage.losses, SizeIs(1));
  EXPECT_EQ(stage.losses[0].side, Side::out);
  EXPECT_EQ(stage.losses[0].error.code, std::errc::broken_pipe);
  EXPECT_EQ(stage.printed_err(), "still here\nstill here\nstill here\n");
}

TEST(Reader, ASlowOneHoldsUpNoJob) {
  TestPipe pipe;
  Stage stage({.out = pipe.write.get()});
  const std::string text = numbered(0, 200'000);
  for (unsigned i = 1; i <= 3; ++i) {
    Job job = stage.open(i);
    job.says(text);  // would never return if it waited for the reader, who does not read yet
    job.ends();
  }
  EXPECT_EQ(read_exactly(pipe.read.get(), 3 * text.size()), text + text + text);
  stage.drain();
}

TEST(Reader, DescriptorsOfAnyKindAreWrittenWhole) {
  const std::string text = numbered(0, 100'000);
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd near(ends[0]), far(ends[1]);
  TestPipe pipe;
  ASSERT_EQ(::fcntl(pipe.write.get(), F_SETFL, O_NONBLOCK), 0);
  const UniqueFd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  for (const auto& [write, read] :
       {std::pair{near.get(), far.get()}, std::pair{pipe.write.get(), pipe.read.get()},
        std::pair{null.get(), -1}}) {
    Stage stage({.out = write});
    Job job = stage.open(1);
    job.says(text);
    job.ends();
    if (read >= 0) {
      EXPECT_EQ(read_exactly(read, text.size()), text);
    }
    stage.drain();
    EXPECT_THAT(stage.losses, IsEmpty());
  }
  EXPECT_EQ(::fcntl(near.get(), F_GETFL) & O_NONBLOCK, 0);  // flags are others' as well
}

TEST(FullDisk, TheJobWaitsAndNothingIsLost) {
  TestPipe pipe;
  Stage stage({.out = pipe.write.get(), .retry_after = 1ms});
  const std::string text = numbered(0, 200'000);
  Job job = stage.open(7);
  std::thread program;
  {
    const FileSizeLimit limit({1 << 20});
    program = std::thread([&] {
      job.says(text);
      job.exits();
    });
    stage.until([&] { return !stage.troubles.empty(); });
    EXPECT_EQ(stage.troubles[0].job, JobId{7});
    EXPECT_EQ(stage.troubles[0].error.code, std::errc::file_too_large);
    EXPECT_THAT(stage.troubles[0].error.message(), HasSubstr("spool in /var/tmp/"));
    EXPECT_THAT(stage.troubles[0].consequence, HasSubstr("until there is space"));
    EXPECT_LE(job.capture.so_far().out.count, (1u << 20) + kBlockBytes);
  }
  program.join();
  job.capture.finish(Disposition::keep);
  EXPECT_EQ(read_exactly(pipe.read.get(), text.size()), text);
  stage.drain();
  EXPECT_THAT(stage.troubles, SizeIs(1));
}

TEST(FullDisk, TheJobMayEndMeanwhile) {
  Stage stage({.escape_grace = 1ms, .retry_after = 1ms});
  Job job = stage.open(1);
  {
    const FileSizeLimit limit({0});
    job.says("text\n");
    job.ends();
    stage.until([&] { return !stage.troubles.empty(); });
  }
  stage.drain();
  EXPECT_EQ(stage.printed(), "text\n");
}

TEST(FullDisk, OfTheResultsHoldsTheJobUpToo) {
  TemporaryDirectory results;
  // The spool's blocks are used again while the lines are printed; the results' file grows.
  const UniqueFd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  Stage stage(
      {.order = Order::line, .out = null.get(), .results_dir = results.path(), .retry_after = 1ms});
  const std::string text = numbered(0, 200'000);
  Job job = stage.open(1);
  std::thread program;
  {
    const FileSizeLimit limit({1 << 20});
    program = std::thread([&] {
      job.says(text);
      job.exits();
    });
    stage.until([&] { return !stage.troubles.empty(); });
    EXPECT_THAT(stage.troubles[0].error.message(), HasSubstr("1/stdout: write: File too large"));
  }
  program.join();
  job.capture.finish(Disposition::keep);
  stage.drain();
  EXPECT_EQ(read_text_at(AT_FDCWD, results.path() / "1/stdout").value_or("?"), text);
}

TEST(FullDisk, UnderStdoutIsWaitedFor) {
  Stage stage({.retry_after = 1ms});
  ASSERT_EQ(::ftruncate(stage.out.get(), 4 << 20), 0);
  ASSERT_EQ(::lseek(stage.out.get(), 0, SEEK_END), 4 << 20);
  Job job = stage.open(1);
  job.says("text\n");
  {
    const FileSizeLimit limit({4 << 20});
    job.ends();
    stage.until([&] { return !stage.troubles.empty(); });
    EXPECT_EQ(stage.troubles[0].job, std::nullopt);
    EXPECT_THAT(stage.troubles[0].error.what, HasSubstr("standard output"));
  }
  stage.drain();
  EXPECT_THAT(stage.printed(), ::testing::EndsWith("text\n"));
  EXPECT_THAT(stage.losses, IsEmpty());
}

std::uint64_t peak_memory_kib() {
  std::string status = *read_text_at(AT_FDCWD, "/proc/self/status");
  std::string_view rest = std::string_view(status).substr(status.find("VmHWM:") + 6);
  std::string_view line = trim(take_line(rest));
  return to_u64(take_until(line, ' ')).value();
}

TEST(Flood, OfTwoHundredMegabytesNeedsNoMemory) {
  constexpr std::size_t kChunks = 200;
  std::string chunk = numbered(0, 1 << 16);  // 1 MiB
  const auto stamped = [&](std::size_t i) -> const std::string& {
    return chunk.replace(0, 15, std::to_string(1'000'000'000'000'000 + i), 1);
  };
  TestPipe pipe;
  Stage stage({.out = pipe.write.get()});
  Job job = stage.open(1);
  ASSERT_TRUE(write_text_at(AT_FDCWD, "/proc/self/clear_refs", "5"));  // VmHWM begins anew
  const std::uint64_t before = peak_memory_kib();
  for (std::size_t i = 0; i < kChunks; ++i) job.says(stamped(i));
  job.ends();
  std::string seen = chunk;
  for (std::size_t i = 0; i < kChunks; ++i) {
    fill(seen, pipe.read.get());
    ASSERT_TRUE(seen == stamped(i)) << i;
  }
  stage.drain();
  EXPECT_LT(peak_memory_kib() - before, 32u << 10);
}

}  // namespace
}  // namespace plimsoll::output
