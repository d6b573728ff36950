#include "govern/seen_exec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "govern/drivers.h"
#include "govern/exec_reader.h"
#include "kernel/procfs/table.h"

namespace plimsoll::govern {
namespace {

using namespace std::string_view_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

procfs::Stat process() { return {.id = {.pid = 20, .start = 7}, .comm = "sh", .parent = 19}; }

TEST(SeenExec, IsWhatTheProcessExecutes) {
  const auto exec = exec_of(process(), "/bin/sh\0-c\0make all\0"sv, "/usr/bin/dash");
  ASSERT_TRUE(exec);
  EXPECT_EQ(exec->process, (procfs::Id{.pid = 20, .start = 7}));
  EXPECT_EQ(exec->parent, 19);
  EXPECT_EQ(exec->file, "/bin/sh");
  EXPECT_THAT(exec->argv, ElementsAre("/bin/sh", "-c", "make all"));
  EXPECT_TRUE(exec->is_done);
}

TEST(SeenExec, EmptyWordsAreWords) {
  const auto exec = exec_of(process(), "grep\0\0file\0"sv, "");
  ASSERT_TRUE(exec);
  EXPECT_THAT(exec->argv, ElementsAre("grep", "", "file"));
}

TEST(SeenExec, GoesByItsFileWhereItHasNoWords) {
  procfs::Stat stat = process();
  stat.stack = 9;
  stat.code_end = 5;
  const auto exec = exec_of(stat, "", "/usr/bin/make");
  ASSERT_TRUE(exec);
  EXPECT_EQ(exec->file, "/usr/bin/make");
  EXPECT_THAT(exec->argv, IsEmpty());
  EXPECT_FALSE(exec_of(stat, "", ""));
}

TEST(SeenExec, InTheMiddleOfAnExecNothingIsToldYet) {
  EXPECT_FALSE(exec_of(process(), "", "/usr/bin/make"));
  // Its stack is there, before its words are and before it begins below them.
  procfs::Stat stat = process();
  stat.stack = 9;
  EXPECT_FALSE(exec_of(stat, "", "/usr/bin/make"));
  EXPECT_FALSE(exec_of(stat, "make\0"sv, "/usr/bin/make"));
  stat.stack = 8;
  stat.code_end = 5;
  EXPECT_TRUE(exec_of(stat, "make\0"sv, "/usr/bin/make"));
}

TEST(SeenExec, HasSoManyWordsAtMost) {
  std::string words;
  for (std::size_t i = 0; i < 2 * kWordsMax; ++i) words += std::string("word") + '\0';
  EXPECT_EQ(exec_of(process(), words, "")->argv.size(), kWordsMax);
}

// As Drivers tells them apart: one file has several names, and a script is its interpreter's.
TEST(SeenExec, ProgramsAreKnownAsWhereTheirExecsAreHeard) {
  struct Case {
    std::string_view words, program;
    Role role;
  };
  const Drivers drivers;
  for (const Case& each : {
           Case{"make\0-j8\0"sv, "/usr/bin/make", Role::driver},
           Case{"cc\0-c\0a.c\0"sv, "/usr/bin/x86_64-linux-gnu-gcc-12", Role::whole},
           Case{"xargs\0true\0"sv, "/bin/busybox", Role::driver},
           Case{"sh\0-c\0gcc a.c\0"sv, "/usr/bin/dash", Role::whole},
           Case{"/bin/sh\0./configure\0"sv, "/usr/bin/dash", Role::driver},
           Case{"-bash\0"sv, "/usr/bin/bash", Role::driver},
           Case{"/usr/bin/python3\0/usr/bin/pytest\0-n4\0"sv, "/usr/bin/python3.11", Role::driver},
           Case{"node\0/usr/bin/npm\0run\0build\0"sv, "/usr/bin/node", Role::driver},
           Case{"plimsoll-exec\0gcc\0"sv, "/usr/bin/plimsoll", Role::driver},
           Case{"python3\0work.py\0"sv, "/usr/bin/python3.11", Role::unknown},
       }) {
    const auto exec = exec_of(process(), each.words, each.program);
    ASSERT_TRUE(exec) << each.words;
    EXPECT_EQ(drivers.role_of(*exec), each.role) << each.words;
  }
}

seccomp_notif call_of_this() { return call_of(*procfs::stat_of(::getpid())); }

TEST(SeenExec, IsReadFromProc) {
  const auto exec = read_seen_exec(call_of_this());
  ASSERT_TRUE(exec && *exec);
  EXPECT_EQ((*exec)->process, procfs::stat_of(::getpid())->id);
  EXPECT_EQ((*exec)->parent, ::getppid());
  EXPECT_EQ(program_name((*exec)->file), "govern_test");
}

TEST(SeenExec, OfTheNextProgramNothingIsToldYet) {
  seccomp_notif call = call_of_this();
  ++call.data.args[0];
  const auto exec = read_seen_exec(call);
  ASSERT_TRUE(exec);
  EXPECT_FALSE(*exec);
}

TEST(SeenExec, AnotherProcessMayHaveTheNumber) {
  procfs::Stat earlier = *procfs::stat_of(::getpid());
  --earlier.id.start;
  const auto exec = read_seen_exec(call_of(earlier));
  ASSERT_FALSE(exec);
  EXPECT_TRUE(exec.error().gone());
}

TEST(SeenExec, OfOneThatIsGoneThereIsNone) {
  seccomp_notif call{};
  call.pid = 1U << 30;  // beyond the highest number
  const auto exec = read_seen_exec(call);
  ASSERT_FALSE(exec);
  EXPECT_TRUE(exec.error().gone());
}

}  // namespace
}  // namespace plimsoll::govern
