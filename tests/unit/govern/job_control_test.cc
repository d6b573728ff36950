#include "govern/job_control.h"

#include <gtest/gtest.h>

namespace plimsoll::govern {
namespace {

procfs::Stat process(int pid, int group) {
  procfs::Stat stat;
  stat.id.pid = pid;
  stat.group = group;
  return stat;
}

TEST(JobControl, AJobOfAShellHasAProcessGroupOfItsOwn) {
  EXPECT_TRUE(is_job_of_shell(process(20, 20), process(10, 10), "/bin/bash"));
  EXPECT_TRUE(is_job_of_shell(process(21, 20), process(10, 10), "/usr/bin/zsh"));
  // As of a script.
  EXPECT_FALSE(is_job_of_shell(process(20, 10), process(10, 10), "/bin/bash"));
}

TEST(JobControl, OtherParentsWaitForEndsOnly) {
  EXPECT_FALSE(is_job_of_shell(process(20, 20), process(10, 10), "/usr/bin/ninja"));
  EXPECT_FALSE(is_job_of_shell(process(20, 20), process(10, 10), ""));
}

}  // namespace
}  // namespace plimsoll::govern
