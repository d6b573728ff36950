// What processes are about to execute whose root is not ours.
#include "govern/exec_reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace plimsoll::govern {
namespace {

// A directory with a program, a link to it by its path below that directory, and a link that leads
// nowhere there; and a process whose root it is.
struct ExecReaderHost : ::testing::Test {
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "not root";
    std::string pattern = ::testing::TempDir() + "rootXXXXXX";
    root = ::mkdtemp(pattern.data());
    std::filesystem::create_directories(root / "bin");
    std::ofstream(root / "bin/program") << "#!/bin/interpreter word\n";
    std::filesystem::permissions(root / "bin/program", std::filesystem::perms::all);
    std::filesystem::create_symlink("/bin/program", root / "bin/link");
    std::filesystem::create_symlink("/bin/sh", root / "bin/nowhere");
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    process = ::fork();
    if (process == 0) {
      const bool is_there = ::chroot(root.c_str()) == 0 && ::chdir("/bin") == 0;
      if (!is_there || ::write(ends[1], "", 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    char ready = 0;
    ::close(ends[1]);
    EXPECT_EQ(::read(ends[0], &ready, 1), 1);
    ::close(ends[0]);
  }
  void TearDown() override {
    if (process <= 0) return;
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
    std::filesystem::remove_all(root);
  }
  // The process has the memory that this one had when it was born, and this text in it.
  [[nodiscard]] std::optional<Exec> read(const char* file) const {
    seccomp_notif call{};
    call.pid = static_cast<std::uint32_t>(process);
    call.data.nr = SYS_execve;
    call.data.args[0] = reinterpret_cast<std::uint64_t>(file);
    auto exec = read_exec(call);
    EXPECT_TRUE(exec);
    return exec ? *exec : std::nullopt;
  }

  std::filesystem::path root;
  pid_t process = -1;
};

TEST_F(ExecReaderHost, AnAbsoluteLinkLeadsOnFromTheRootOfTheProcess) {
  for (const char* file : {"/bin/program", "/bin/link", "program", "./link", "../bin/link"}) {
    const auto exec = read(file);
    ASSERT_TRUE(exec) << file;
    EXPECT_EQ(exec->file, file);
    ASSERT_EQ(exec->interpreter.size(), 2u) << file;
    EXPECT_EQ(exec->interpreter[0], "/bin/interpreter");
  }
}

TEST_F(ExecReaderHost, WhatIsThereOnlyForUsIsNotExecuted) {
  EXPECT_FALSE(read("/bin/nowhere"));
  EXPECT_FALSE(read("nowhere"));
  EXPECT_FALSE(read("/bin/sh"));
}

}  // namespace
}  // namespace plimsoll::govern
