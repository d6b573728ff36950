#include "govern/exec_sightings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace plimsoll::govern {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int kShell = 5, kGuardian = 10, kSupervisor = 11;

// A machine with a guardian and a supervisor, as looks at /proc show it.
class ExecSightingsTest : public ::testing::Test {
 protected:
  ExecSightingsTest() {
    table_[kShell] = {.id = {.pid = kShell, .start = 1}, .comm = "sh", .parent = 1};
    table_[kGuardian] = {
        .id = {.pid = kGuardian, .start = 1}, .comm = "plimsoll", .parent = kShell};
    fork(kSupervisor, kGuardian);
  }

  void fork(int pid, int parent) {
    procfs::Stat stat = table_.at(parent);
    stat.id = {.pid = pid, .start = ++clock_};
    stat.parent = parent;
    stat.is_copy = true;
    table_[pid] = stat;
  }
  void exec(int pid, const std::string& comm) {
    table_.at(pid).is_copy = false;
    table_.at(pid).comm = comm;
    table_.at(pid).stack = tells_stacks_ ? ++clock_ : 0;
  }
  void start(int pid, int parent, const std::string& comm) {
    fork(pid, parent);
    exec(pid, comm);
  }
  void end(int pid) {
    table_.erase(pid);
    for (auto& [child, stat] : table_) {
      if (stat.parent == pid) stat.parent = kGuardian;
    }
  }
  std::vector<int> look() {
    std::vector<int> pids;
    for (const procfs::Stat& seen : sightings_.take(table_)) pids.push_back(seen.id.pid);
    return pids;
  }

  procfs::Table table_;
  std::uint64_t clock_ = 1;
  bool tells_stacks_ = true;
  ExecSightings sightings_{kGuardian, {{.pid = kSupervisor, .start = 2}}};
};

TEST_F(ExecSightingsTest, EachExecIsSeenOnce) {
  EXPECT_THAT(look(), IsEmpty());
  start(20, kGuardian, "make");
  EXPECT_THAT(look(), ElementsAre(20));
  EXPECT_THAT(look(), IsEmpty());
  start(21, 20, "gcc");
  EXPECT_THAT(look(), ElementsAre(21));
  exec(21, "cc1");
  EXPECT_THAT(look(), ElementsAre(21));
  EXPECT_THAT(look(), IsEmpty());
}

// The numbers of processes go round.
TEST_F(ExecSightingsTest, ParentsComeBeforeTheirChildren) {
  start(90, kGuardian, "make");
  start(80, 90, "sh");
  start(20, 80, "gcc");
  start(70, 90, "ld");
  EXPECT_THAT(look(), ElementsAre(90, 80, 70, 20));
}

// A subshell, and a child of vfork(2) that has not executed yet.
TEST_F(ExecSightingsTest, ACopyOfItsParentHasExecutedNothing) {
  start(20, kGuardian, "sh");
  fork(21, 20);
  start(22, 21, "gcc");
  EXPECT_THAT(look(), ElementsAre(20, 22));
  exec(21, "ld");
  EXPECT_THAT(look(), ElementsAre(21));
}

TEST_F(ExecSightingsTest, AnotherProcessMayHaveTheNumber) {
  start(20, kGuardian, "make");
  start(21, 20, "gcc");
  look();
  end(21);
  start(21, 20, "gcc");
  EXPECT_THAT(look(), ElementsAre(21));
}

TEST_F(ExecSightingsTest, WhatIsForgottenIsSeenOnceMore) {
  start(20, kGuardian, "make");
  start(21, 20, "gcc");
  look();
  end(20);
  sightings_.forget(table_.at(21).id);
  sightings_.forget({.pid = 22, .start = 1});  // nobody
  EXPECT_THAT(look(), ElementsAre(21));
  EXPECT_THAT(look(), IsEmpty());
}

// It could not be read, and has executed another program meanwhile.
TEST_F(ExecSightingsTest, WhatWasSeenSinceIsNotForgotten) {
  start(20, kGuardian, "sh");
  look();
  const auto [id, stack] = std::pair(table_.at(20).id, table_.at(20).stack);
  exec(20, "make");
  EXPECT_THAT(look(), ElementsAre(20));
  sightings_.forget(id, stack);
  EXPECT_THAT(look(), IsEmpty());
  sightings_.forget(id, table_.at(20).stack);
  EXPECT_THAT(look(), ElementsAre(20));
}

// A look that lacks its parent finds it the command's all the same.
TEST_F(ExecSightingsTest, WhatIsForgottenStaysTheCommands) {
  start(20, kGuardian, "make");
  start(21, 20, "gcc");
  look();
  sightings_.forget(table_.at(21).id);
  table_.erase(20);
  EXPECT_THAT(look(), ElementsAre(21));
}

TEST_F(ExecSightingsTest, OthersAreNotTold) {
  start(19, kSupervisor, "helper");
  start(30, kShell, "elsewhere");
  start(31, 30, "elsewhere");
  EXPECT_THAT(look(), IsEmpty());
}

// What the guardian had started before it was one, with all that comes of it: also when that is the
// guardian's child in the end.
TEST_F(ExecSightingsTest, WhoWasThereBeforeTheCommandIsNoneOfIts) {
  start(15, kGuardian, "before");
  ExecSightings sightings(kGuardian, {table_.at(kSupervisor).id, table_.at(15).id});
  start(16, 15, "child");
  EXPECT_THAT(sightings.take(table_), IsEmpty());
  end(15);
  exec(16, "again");
  start(20, kGuardian, "make");
  EXPECT_THAT(sightings.take(table_), ElementsAre(table_.at(20)));
}

// A look lacks a process that was born or has ended while it was taken.
TEST_F(ExecSightingsTest, WhoWasTheCommandsStaysSoWithoutAParent) {
  start(20, kGuardian, "make");
  start(21, 20, "sh");
  look();
  table_.erase(20);
  EXPECT_THAT(look(), IsEmpty());
  end(20);
  EXPECT_THAT(look(), IsEmpty());
  exec(21, "gcc");
  EXPECT_THAT(look(), ElementsAre(21));
}

TEST_F(ExecSightingsTest, ATableThatGoesInCirclesIsGoneThroughOnce) {
  start(20, kShell, "one");
  start(21, 20, "other");
  table_.at(20).parent = 21;
  EXPECT_THAT(look(), IsEmpty());
}

TEST_F(ExecSightingsTest, ANameIsTheProgramsOwnWhereTheStackIsTold) {
  start(20, kGuardian, "npm");
  look();
  table_.at(20).comm = "npm run build";
  EXPECT_THAT(look(), IsEmpty());
}

TEST_F(ExecSightingsTest, WithoutTheStackTheNameCounts) {
  tells_stacks_ = false;
  start(20, kGuardian, "sh");
  look();
  EXPECT_THAT(look(), IsEmpty());
  exec(20, "sudo");
  EXPECT_THAT(look(), ElementsAre(20));
}

// Where the places of memory are not random (setarch -R) two stacks may begin alike.
TEST_F(ExecSightingsTest, AnotherProgramWithTheSameStackIsSeen) {
  start(20, kGuardian, "bash");
  look();
  ++table_.at(20).code_end;
  EXPECT_THAT(look(), ElementsAre(20));
}

}  // namespace
}  // namespace plimsoll::govern
