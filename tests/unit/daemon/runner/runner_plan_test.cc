#include "daemon/runner/runner_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/daemon/api/tree.h"

namespace plimsoll::daemon {
namespace {

using testing::ElementsAre;
using testing::StartsWith;
using testing::UnorderedElementsAre;
using std::string_literals::operator""s;

class RunnerPlan : public BuildTree {
 protected:
  RunnerPlan() {
    settings.build_directory = build;
    order = {.arguments = {"/bin/true"},
             .environment = {},
             .working_directory = "",
             .stdout_path = "1/stdout",
             .stderr_path = "1/stderr",
             .input_root = "1/root",
             .temporary_directory = "1/tmp",
             .server_logs = "1/server_logs",
             .time_left = {}};
  }
  // Each time as if it were the first.
  Planned plan() {
    std::filesystem::remove(build / "1/stdout");
    std::filesystem::remove(build / "1/stderr");
    return plan_run(order, settings);
  }
  std::string executable() { return plan().plan.spawn.executable; }
  [[nodiscard]] bool has_logs() const {
    return std::filesystem::exists(build / "1/stdout") ||
           std::filesystem::exists(build / "1/stderr");
  }

  ActionRequest order;
  RunnerSettings settings;
};

TEST_F(RunnerPlan, APlainAction) {
  order.arguments = {"./tool", "a b", ""};
  order.environment = {{"A", "1"}, {"B", "x=y"}};
  order.working_directory = "src/main";
  const Planned planned = plan();
  ASSERT_TRUE(planned.status.ok()) << planned.status.text;
  const guardian::SpawnRequest& spawn = planned.plan.spawn;
  EXPECT_EQ(spawn.executable, "./tool");
  EXPECT_THAT(spawn.argv, ElementsAre("./tool", "a b", ""));
  EXPECT_THAT(spawn.env, UnorderedElementsAre("A=1", "B=x=y"));
  EXPECT_EQ(spawn.cwd, build.string() + "/1/root/src/main");
  EXPECT_EQ(spawn.root, "");
  EXPECT_FALSE(spawn.identity);
  EXPECT_TRUE(planned.plan.out && planned.plan.err);
}

TEST_F(RunnerPlan, ArgumentsAndPathsComeFirstAndLeaveNoLogs) {
  order.arguments = Words();
  EXPECT_EQ(plan().status,
            (Status{Code::invalid_argument, "Insufficient number of command arguments"}));
  order.arguments = {"nothing-of-that-name"};
  order.input_root = "1/\0root"s;
  EXPECT_EQ(plan().status, (Status{Code::invalid_argument,
                                   "Failed to resolve input root directory: Path contains a null "
                                   "byte"}));
  order.input_root = "1/root";
  EXPECT_THAT(plan().status.text, StartsWith("Cannot find executable"));
  EXPECT_FALSE(has_logs());
}

TEST_F(RunnerPlan, TheProgramIsSearchedInTheActionsPath) {
  file("1/root/bin/tool", 0644);
  file("1/root/sub/bin/tool", 0755);
  file("1/root/other/tool", 0755);
  std::filesystem::create_directories(build / "1/root/dirs/tool");
  order.arguments = {"tool"};
  const auto with_path = [this](const std::string& path) {
    order.environment = {{"PATH", path}};
    return executable();
  };
  EXPECT_EQ(with_path("bin:sub/bin:other"), "sub/bin/tool");  // the first can't be executed
  EXPECT_EQ(with_path("dirs:other"), "other/tool");
  EXPECT_EQ(with_path("nowhere::other"), "other/tool");
  const std::string absolute = build.string() + "/1/root/other";
  EXPECT_EQ(with_path(absolute + ":sub/bin"), absolute + "/tool");
  order.working_directory = "sub/bin";
  EXPECT_EQ(with_path("x:"), "tool");
  EXPECT_EQ(with_path("x:."), "tool");
  EXPECT_EQ(with_path("sub/bin"), "");
}

TEST_F(RunnerPlan, AProgramThatIsNotFoundIsTold) {
  order.arguments = {"no-such-tool"};
  EXPECT_EQ(plan().status, (Status{Code::invalid_argument,
                                   R"(Cannot find executable "no-such-tool" in search paths "")"}));
  order.environment = {{"PATH", "/bin:bin"}};
  EXPECT_EQ(plan().status,
            (Status{Code::invalid_argument,
                    R"(Cannot find executable "no-such-tool" in search paths "/bin:bin")"}));
  order.arguments = {"no\0such"s};
  EXPECT_EQ(plan().status,
            (Status{Code::invalid_argument,
                    R"(Cannot find executable "no\x00such" in search paths "/bin:bin")"}));
  order.arguments = {""};
  EXPECT_EQ(plan().status.code, Code::invalid_argument);
}

TEST_F(RunnerPlan, AnAbsolutePathStandsForItself) {
  order.input_root = "/srv";
  order.working_directory = "x";
  EXPECT_EQ(plan().plan.spawn.cwd, "/srv/x");
  order.working_directory = "/var";
  EXPECT_EQ(plan().plan.spawn.cwd, "/var");
  order.input_root = ".";
  order.working_directory = "";
  EXPECT_EQ(plan().plan.spawn.cwd, build.string() + "/.");
}

TEST_F(RunnerPlan, TmpdirOnlyWhereAskedForAndNotSaid) {
  order.environment = {{"A", "1"}};
  EXPECT_THAT(plan().plan.spawn.env, ElementsAre("A=1"));
  settings.set_tmpdir = true;
  EXPECT_THAT(plan().plan.spawn.env, ElementsAre("A=1", "TMPDIR=" + build.string() + "/1/tmp"));
  order.environment = {{"TMPDIR", "/own"}};
  EXPECT_THAT(plan().plan.spawn.env, ElementsAre("TMPDIR=/own"));
  order.environment.clear();
  order.temporary_directory.clear();
  EXPECT_THAT(plan().plan.spawn.env, ElementsAre());
}

TEST_F(RunnerPlan, InTheInputRootEnvFindsTheProgram) {
  settings.chroot_into_input_root = true;
  order.arguments = {"tool", "x"};
  order.working_directory = "src";
  const Planned planned = plan();
  ASSERT_TRUE(planned.status.ok());
  EXPECT_EQ(planned.plan.spawn.root, build.string() + "/1/root");
  EXPECT_EQ(planned.plan.spawn.cwd, "/src");
  EXPECT_EQ(planned.plan.spawn.executable, "/usr/bin/env");
  EXPECT_THAT(planned.plan.spawn.argv, ElementsAre("/usr/bin/env", "--", "tool", "x"));
}

TEST_F(RunnerPlan, NulWordsFailTheStartAndLeaveTheLogs) {
  order.arguments = {"/bin/true", "a\0b"s};
  EXPECT_EQ(plan().status, (Status{Code::internal, "Failed to start process: invalid argument"}));
  EXPECT_TRUE(has_logs());
  order.arguments = {"/bin/true"};
  order.environment = {{"A", "a\0b"s}};
  EXPECT_EQ(plan().status.code, Code::internal);
}

TEST_F(RunnerPlan, OneFileCantBeBothLogs) {
  order.stderr_path = order.stdout_path;
  const Status status = plan().status;
  EXPECT_EQ(status.code, Code::unknown);
  EXPECT_THAT(status.text, StartsWith("Failed to open stderr path \"1/stdout\": file exists"));
}

TEST_F(RunnerPlan, TheSettingsGoAlong) {
  settings.run_as = guardian::Identity{.uid = 7, .gid = 8, .groups = {9}};
  settings.umask = 027;
  settings.rlimits = {{RLIMIT_NOFILE, {10, 20}}};
  const guardian::SpawnRequest spawn = plan().plan.spawn;
  EXPECT_EQ(spawn.identity->uid, 7u);
  EXPECT_EQ(spawn.umask, mode_t{027});
  ASSERT_EQ(spawn.rlimits.size(), 1u);
  EXPECT_EQ(spawn.rlimits[0].value.rlim_max, 20u);
}

TEST(SpawnErrors, WhatAnotherTryCantChangeIsTheClients) {
  for (const int number : {ENOENT, EACCES, EPERM, EISDIR, ENOEXEC}) {
    EXPECT_EQ(code_of_spawn_errno(number), Code::invalid_argument) << number;
  }
  for (const int number : {ENOTDIR, E2BIG, ETXTBSY, EAGAIN, ENOMEM, ELOOP, ENAMETOOLONG, EINVAL}) {
    EXPECT_EQ(code_of_spawn_errno(number), Code::internal) << number;
  }
  EXPECT_EQ(status_of({.id = {},
                       .step = guardian::SpawnStep::working_directory,
                       .code = std::errc::no_such_file_or_directory}),
            (Status{Code::invalid_argument, "Failed to start process: no such file or directory"}));
}

TEST(StatusOf, WhatTheRunnerLacksItselfMayBeTriedAgain) {
  using guardian::SpawnStep;
  const auto code_at = [](SpawnStep step) {
    return status_of({.id = {}, .step = step, .code = std::errc::permission_denied}).code;
  };
  for (const SpawnStep step : {SpawnStep::clone, SpawnStep::enter_group, SpawnStep::session,
                               SpawnStep::rlimit, SpawnStep::stdio}) {
    EXPECT_EQ(code_at(step), Code::internal) << guardian::name_of(step);
  }
  for (const SpawnStep step : {SpawnStep::root, SpawnStep::identity, SpawnStep::exec}) {
    EXPECT_EQ(code_at(step), Code::invalid_argument) << guardian::name_of(step);
  }
}

}  // namespace
}  // namespace plimsoll::daemon
