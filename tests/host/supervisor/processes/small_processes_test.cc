#include "supervisor/processes/small_processes.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "support/ground.h"

namespace plimsoll::supervisor {
namespace {

constexpr Bytes mib(std::uint64_t count) { return Bytes{count << 20}; }

struct Seen : SmallProcessesObserver {
  void on_small_ended(JobId process) override { ended.push_back(process); }
  void on_grown(SmallProcess process) override { grown.push_back(process.id); }
  std::vector<JobId> ended, grown;
};

// A child that sleeps.
class Sleeper {
 public:
  Sleeper() : pid_(::fork()) {
    while (pid_ == 0) ::pause();
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() { end(); }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  [[nodiscard]] SmallProcess as(unsigned id, Bytes peak) const {
    return {.id = JobId{id},
            .pid = pid_,
            .pidfd = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0U))),
            .peak = peak,
            .since = loop::now()};
  }

 private:
  pid_t pid_;
};

class SmallProcessesTest : public ::testing::Test {
 protected:
  bool becomes(const std::vector<JobId>& now, const std::vector<JobId>& wanted) {
    return plimsoll::testing::eventually([&] {
      EXPECT_TRUE(loop_.run_once(std::chrono::milliseconds(1)));
      return now == wanted;
    });
  }
  loop::Loop loop_ = std::move(*loop::Loop::create());
  Seen seen_;
  SmallProcesses small_{loop_, seen_};
};

TEST_F(SmallProcessesTest, OneThatEndsIsTold) {
  Sleeper sleeper;
  small_.add(sleeper.as(1, mib(1)));
  EXPECT_EQ(small_.size(), 1U);
  sleeper.end();
  EXPECT_TRUE(becomes(seen_.ended, {JobId{1}}));
  EXPECT_EQ(small_.size(), 0U);
}

TEST_F(SmallProcessesTest, OneThatStaysIsSmallNoMore) {
  const Sleeper sleeper;
  const Instant begun = loop::now();
  small_.add(sleeper.as(1, mib(1)));
  EXPECT_TRUE(becomes(seen_.grown, {JobId{1}}));
  EXPECT_GE(loop::now() - begun, SmallProcesses::kStays);
  EXPECT_EQ(small_.size(), 0U);
}

TEST_F(SmallProcessesTest, OneThatIsTakenIsNotTold) {
  Sleeper sleeper;
  small_.add(sleeper.as(1, mib(1)));
  EXPECT_TRUE(small_.take(JobId{1}));
  EXPECT_FALSE(small_.take(JobId{1}));
  sleeper.end();
  const Instant end = loop::now() + 3 * SmallProcesses::kLook;
  while (loop::now() < end) ASSERT_TRUE(loop_.run_once(SmallProcesses::kLook));
  EXPECT_TRUE(seen_.ended.empty());
}

TEST_F(SmallProcessesTest, TogetherTheyTakeAPartOfTheLine) {
  const Sleeper sleeper;
  const Bytes line = mib(1600);  // a part is 100 MiB
  EXPECT_FALSE(small_.has_room(mib(100), line)) << "each has its tables beside its memory";
  unsigned count = 0;
  while (small_.has_room(mib(19), line)) small_.add(sleeper.as(++count, mib(19)));
  EXPECT_EQ(count, 5U);
  EXPECT_TRUE(small_.has_room(mib(3), line));
  EXPECT_TRUE(small_.take(JobId{3}));
  EXPECT_TRUE(small_.has_room(mib(19), line));
}

TEST_F(SmallProcessesTest, ThereAreSoManyHoweverSmall) {
  const Sleeper sleeper;
  for (unsigned id = 1; id <= SmallProcesses::kMost; ++id) small_.add(sleeper.as(id, Bytes{}));
  EXPECT_FALSE(small_.has_room(Bytes{}, mib(1 << 20)));
}

TEST_F(SmallProcessesTest, NowAndThenOneIsMeasured) {
  std::uint64_t measured = 0;
  for (std::uint64_t i = 0; i < 10 * SmallProcesses::kCheckedOneIn; ++i) {
    if (small_.is_checked()) ++measured;
  }
  EXPECT_EQ(measured, 10U);
}

}  // namespace
}  // namespace plimsoll::supervisor
