#include "govern/step_tree.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace plimsoll::govern {
namespace {

using What = Meaning::What;

// A machine of processes, as the tree sees it.
class Machine : public ProcessLookup {
 public:
  std::optional<Process> find(int pid) override {
    const auto found = processes_.find(pid);
    if (found == processes_.end()) return std::nullopt;
    return found->second;
  }
  std::optional<JobId> step_of(int pid) override {
    const auto found = groups_.find(pid);
    return found == groups_.end() ? std::nullopt : std::optional(found->second);
  }

  int fork(int parent) { return fork_as(++last_, parent); }
  int fork_as(int pid, int parent) {
    processes_[pid] = {{pid, ++start_}, parent};
    if (const auto group = groups_.find(parent); group != groups_.end()) {
      groups_[pid] = group->second;
    }
    return pid;
  }
  // Its children go to whoever takes orphans in.
  void end(int pid) {
    processes_.erase(pid);
    groups_.erase(pid);
    for (auto& [child, process] : processes_) {
      if (process.parent == pid) process.parent = kReaper;
    }
  }
  void put(int pid, JobId step) { groups_[pid] = step; }
  [[nodiscard]] Exec exec(int pid, std::vector<std::string> argv) const {
    const Process& process = processes_.at(pid);
    Exec made;
    made.process = process.id;
    made.parent = process.parent;
    made.file = argv.front();
    made.argv = std::move(argv);
    return made;
  }
  [[nodiscard]] const std::map<int, Process>& processes() const { return processes_; }

  static constexpr int kReaper = 2;

 private:
  std::map<int, Process> processes_{{kReaper, {{kReaper, 1}, 1}}};
  std::map<int, JobId> groups_;
  int last_ = 100;
  std::uint64_t start_ = 1;
};

class StepTreeTest : public ::testing::Test {
 protected:
  // As the run does with it.
  Meaning exec(int pid, std::vector<std::string> argv) {
    const Exec what = machine.exec(pid, std::move(argv));
    const Meaning meaning = tree.exec(what);
    if (meaning.what == What::begins) {
      ++steps;
      tree.begun(JobId{steps}, what);
      machine.put(pid, JobId{steps});
    }
    return meaning;
  }
  int root(std::vector<std::string> argv) {
    const int pid = machine.fork(Machine::kReaper);
    tree.set_root(machine.exec(pid, std::move(argv)));
    return pid;
  }

  Machine machine;
  Drivers drivers;
  StepTree tree{drivers, machine};
  std::uint64_t steps = 0;
};

TEST_F(StepTreeTest, ChildrenOfMakeAreSteps) {
  const int make = root({"make"});
  EXPECT_EQ(exec(make, {"make"}).what, What::nothing);
  const int gcc = machine.fork(make);
  EXPECT_EQ(exec(gcc, {"gcc", "-c", "a.c"}).what, What::begins);
  const int cc1 = machine.fork(gcc);
  const Meaning inside = exec(cc1, {"cc1"});
  EXPECT_EQ(inside.what, What::goes_on);
  EXPECT_EQ(inside.step, JobId{1});
  EXPECT_EQ(exec(machine.fork(make), {"gcc", "-c", "b.c"}).what, What::begins);
}

TEST_F(StepTreeTest, WhoWasToldAsWithinAStepIsKnown) {
  const int make = root({"make"});
  const int sh = machine.fork(make);
  exec(sh, {"sh", "-c", "gcc a.c"});
  EXPECT_TRUE(tree.inside(JobId{1}).empty());
  const int gcc = machine.fork(sh);
  exec(gcc, {"gcc", "a.c"});
  EXPECT_EQ(tree.inside(JobId{1}), std::vector{machine.processes().at(gcc).id});
  EXPECT_TRUE(tree.inside(JobId{2}).empty());
}

// A script starts a make and executes something else at last, of which the make is no part.
TEST_F(StepTreeTest, DriversAndOtherStepsAreNoPartOfAStep) {
  const int root_shell = root({"sh", "all.sh"});
  const int script = machine.fork(root_shell);
  exec(script, {"sh", "each.sh"});
  const int make = machine.fork(script);
  exec(make, {"make"});
  const int gcc = machine.fork(make);
  ASSERT_EQ(exec(gcc, {"gcc", "a.c"}).what, What::begins);
  ASSERT_EQ(exec(script, {"./server"}).what, What::begins);
  const auto others = tree.others(JobId{2});
  EXPECT_TRUE(others.contains(machine.processes().at(make).id));
  EXPECT_TRUE(others.contains(machine.processes().at(gcc).id));
  EXPECT_FALSE(others.contains(machine.processes().at(script).id));
}

TEST_F(StepTreeTest, DriversBelowTheCommandAreCountedWhileTheyLive) {
  const int root_make = root({"make"});
  EXPECT_EQ(tree.drivers_below(), 0u);
  const int submake = machine.fork(root_make);
  exec(submake, {"make"});
  const int deep = machine.fork(submake);
  exec(deep, {"ninja"});
  exec(machine.fork(deep), {"gcc", "a.c"});
  EXPECT_EQ(tree.drivers_below(), 2u);
  exec(deep, {"gcc", "b.c"});  // it is a step from now on
  EXPECT_EQ(tree.drivers_below(), 1u);
  machine.end(submake);
  EXPECT_EQ(tree.drivers_below(), 0u);
}

TEST_F(StepTreeTest, WhatABatchStartsStaysPartOfIt) {
  const int make = root({"make"});
  const int batch = machine.fork(make);
  EXPECT_EQ(exec(batch, {"plimsoll", "batch", "jobs"}).what, What::begins);
  const int job = machine.fork(batch);
  for (const std::vector<std::string>& argv :
       {std::vector<std::string>{"make"}, {"plimsoll", "exec", "--", "gcc"}}) {
    const Meaning meaning = exec(job, argv);
    EXPECT_EQ(meaning.what, What::goes_on);
    EXPECT_EQ(meaning.released, std::nullopt);
  }
}

// By the time that it is seen it may have groups of its own, which must not be moved.
TEST_F(StepTreeTest, ABatchThatIsSeenLateIsLeftAlone) {
  const int make = root({"make"});
  const int batch = machine.fork(make);
  Exec late = machine.exec(batch, {"plimsoll", "batch", "jobs"});
  late.is_done = true;
  EXPECT_EQ(tree.exec(late).what, What::nothing);
  EXPECT_EQ(exec(machine.fork(batch), {"gcc", "a.c"}).what, What::nothing);
  EXPECT_EQ(exec(machine.fork(make), {"gcc", "b.c"}).what, What::begins);
}

TEST_F(StepTreeTest, TheCommandItselfMayHoldTokens) {
  const int own = root({"plimsoll", "govern", "--", "sh"});
  EXPECT_EQ(tree.drivers_below(), 0u);
  exec(own, {"rustc", "a.rs"});
  EXPECT_EQ(tree.drivers_below(), std::nullopt);
  exec(own, {"make"});
  EXPECT_EQ(tree.drivers_below(), 0u);
}

TEST_F(StepTreeTest, BelowAGovernorNobodyIsCounted) {
  root({"plimsoll", "batch", "jobs.txt"});
  EXPECT_EQ(tree.drivers_below(), std::nullopt);
}

TEST_F(StepTreeTest, AShellThatExecutesIsOneStep) {
  const int ninja = root({"ninja"});
  const int sh = machine.fork(ninja);
  EXPECT_EQ(exec(sh, {"/bin/sh", "-c", "gcc a.c"}).what, What::begins);
  EXPECT_EQ(exec(sh, {"gcc", "a.c"}).what, What::goes_on);
}

TEST_F(StepTreeTest, TheCommandIsADriverWhateverItIs) {
  const int own = root({"./mine"});
  EXPECT_EQ(exec(own, {"./other"}).what, What::nothing);
  EXPECT_EQ(exec(machine.fork(own), {"a"}).what, What::begins);
}

TEST_F(StepTreeTest, DriversNest) {
  const int make = root({"make"});
  const int cmake = machine.fork(make);
  EXPECT_EQ(exec(cmake, {"cmake", "--build", "."}).what, What::nothing);
  const int ninja = machine.fork(cmake);
  EXPECT_EQ(exec(ninja, {"ninja"}).what, What::nothing);
  EXPECT_EQ(exec(machine.fork(ninja), {"gcc"}).what, What::begins);
}

TEST_F(StepTreeTest, AStepInWhichADriverIsExecutedIsNone) {
  const int make = root({"make"});
  const int sh = machine.fork(make);
  exec(sh, {"sh", "-c", "cd sub && make"});
  const int sub = machine.fork(sh);
  const Meaning meaning = exec(sub, {"make"});
  EXPECT_EQ(meaning.what, What::nothing);
  EXPECT_EQ(meaning.released, JobId{1});
  EXPECT_EQ(exec(machine.fork(sub), {"gcc"}).what, What::begins);
  // What the shell starts besides is a step as well.
  EXPECT_EQ(exec(machine.fork(sh), {"gcc"}).what, What::begins);
}

TEST_F(StepTreeTest, TheSameProcessBecomesADriver) {
  const int make = root({"make"});
  const int sh = machine.fork(make);
  exec(sh, {"sh", "-c", "make -C sub"});
  EXPECT_EQ(exec(sh, {"make", "-C", "sub"}).released, JobId{1});
  EXPECT_EQ(exec(machine.fork(sh), {"gcc"}).what, What::begins);
}

TEST_F(StepTreeTest, WhoStartsSeveralAtATimeIsADriver) {
  const int xargs = root({"xargs"});
  const int own = machine.fork(xargs);
  exec(own, {"./runner"});
  const int first = machine.fork(own);
  EXPECT_EQ(exec(first, {"a"}).what, What::goes_on);
  const int second = machine.fork(own);
  const Meaning meaning = exec(second, {"b"});
  EXPECT_EQ(meaning.released, JobId{1});
  EXPECT_EQ(meaning.what, What::begins);
}

TEST_F(StepTreeTest, WhoStartsOneAfterTheOtherIsNone) {
  const int xargs = root({"xargs"});
  const int own = machine.fork(xargs);
  exec(own, {"./runner"});
  for (int i = 0; i < 5; ++i) {
    const int child = machine.fork(own);
    EXPECT_EQ(exec(child, {"a"}).what, What::goes_on);
    machine.end(child);
  }
}

TEST_F(StepTreeTest, CompilersAndPipesStayWhole) {
  const int make = root({"make"});
  const int gcc = machine.fork(make);
  exec(gcc, {"gcc", "-pipe", "a.c"});
  EXPECT_EQ(exec(machine.fork(gcc), {"cc1"}).what, What::goes_on);
  EXPECT_EQ(exec(machine.fork(gcc), {"as"}).what, What::goes_on);
  const int sh = machine.fork(make);
  exec(sh, {"sh", "-c", "a | b"});
  EXPECT_EQ(exec(machine.fork(sh), {"a"}).what, What::goes_on);
  EXPECT_EQ(exec(machine.fork(sh), {"b"}).what, What::goes_on);
}

// Its link-time optimisation has a make of its own run several compilers.
TEST_F(StepTreeTest, ALinkStaysWholeWithTheMakeThatItStarts) {
  const int make = root({"make"});
  const int gcc = machine.fork(make);
  exec(gcc, {"gcc", "-flto=auto", "a.o", "b.o"});
  const int wrapper = machine.fork(gcc);
  EXPECT_EQ(exec(wrapper, {"/usr/lib/gcc/x86_64-linux-gnu/12/lto-wrapper"}).step, JobId{1});
  const int inner = machine.fork(wrapper);
  const Meaning meaning = exec(inner, {"make", "-f", "/tmp/a.mk", "all"});
  EXPECT_EQ(meaning.what, What::goes_on);
  EXPECT_FALSE(meaning.released);
  for (const char* part : {"0", "1"}) {
    EXPECT_EQ(exec(machine.fork(inner), {"gcc", "-fltrans", part}).what, What::goes_on);
  }
  EXPECT_EQ(steps, 1u);
}

TEST_F(StepTreeTest, OrphansBelongToTheirGroup) {
  const int make = root({"make"});
  const int step = machine.fork(make);
  exec(step, {"./daemonize"});
  const int middle = machine.fork(step);
  const int orphan = machine.fork(middle);
  machine.end(middle);
  const Meaning meaning = exec(orphan, {"./server"});
  EXPECT_EQ(meaning.what, What::goes_on);
  EXPECT_EQ(meaning.step, JobId{1});
  machine.end(step);
  EXPECT_EQ(exec(orphan, {"./server", "again"}).step, JobId{1});
}

TEST_F(StepTreeTest, OrphansOfADriverAreSteps) {
  const int make = root({"make"});
  const int middle = machine.fork(make);
  const int orphan = machine.fork(middle);
  machine.end(middle);
  EXPECT_EQ(exec(orphan, {"./server"}).what, What::begins);
}

TEST_F(StepTreeTest, ANumberThatIsUsedAgainIsAnother) {
  const int make = root({"make"});
  const int driver = machine.fork(make);
  EXPECT_EQ(exec(driver, {"ninja"}).what, What::nothing);
  machine.end(driver);
  machine.fork_as(driver, make);
  EXPECT_EQ(exec(driver, {"gcc"}).what, What::begins);
}

TEST_F(StepTreeTest, WhatEndedIsForgotten) {
  const int make = root({"make"});
  const std::size_t before = tree.nodes();
  const int gcc = machine.fork(make);
  exec(gcc, {"gcc"});
  tree.ended(JobId{1});
  machine.end(gcc);
  EXPECT_EQ(tree.nodes(), before);
  for (int i = 0; i < 5000; ++i) {
    const int driver = machine.fork(make);
    exec(driver, {"make"});
    machine.end(driver);
  }
  EXPECT_LE(tree.nodes(), 2 * StepTree::kSweepFrom);
}

TEST_F(StepTreeTest, AnotherPlimsollIsLeftAlone) {
  const int batch = root({"plimsoll", "batch", "jobs"});
  EXPECT_EQ(exec(batch, {"plimsoll", "batch", "jobs"}).what, What::nothing);
  EXPECT_EQ(exec(machine.fork(batch), {"gcc"}).what, What::nothing);
}

TEST_F(StepTreeTest, BelowADriverAnotherPlimsollIsAStep) {
  const int make = root({"make"});
  const int batch = machine.fork(make);
  EXPECT_EQ(exec(batch, {"plimsoll", "batch", "jobs"}).what, What::begins);
  EXPECT_EQ(exec(machine.fork(batch), {"gcc"}).what, What::goes_on);
}

TEST_F(StepTreeTest, AnInnerGovernLeavesItsCommandToThisRun) {
  const int make = root({"make"});
  const int inner = machine.fork(make);
  EXPECT_EQ(exec(inner, {"plimsoll", "govern", "--", "./mine"}).what, What::nothing);
  EXPECT_EQ(exec(inner, {"./mine"}).what, What::nothing);
  EXPECT_EQ(exec(machine.fork(inner), {"a"}).what, What::begins);
}

// Whatever is forked, executed and ended: each step that is spoken of has begun and has not ended;
// a process in a step stays in it, whatever it executes, until that is a driver; and what a driver
// starts is a step.
RC_GTEST_PROP(StepTreeProperty, StepsBeginAndLast, ()) {
  Machine machine;
  const Drivers drivers;
  StepTree tree(drivers, machine);
  const int root = machine.fork(Machine::kReaper);
  tree.set_root(machine.exec(root, {"make"}));
  std::map<JobId, int> mains;
  std::uint64_t last = 0;
  const auto actions = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 8), rc::gen::inRange(0, 1000)));
  for (const auto& [action, which] : actions) {
    std::vector<int> pids;
    for (const auto& [pid, process] : machine.processes()) pids.push_back(pid);
    const int pid = pids[static_cast<std::size_t>(which) % pids.size()];
    if (pid == Machine::kReaper) continue;
    if (action <= 2) {
      machine.fork(pid);
    } else if (action == 3 && pid != root) {
      machine.end(pid);
      for (const auto& [step, main] : mains) {
        if (main != pid) continue;
        tree.ended(step);
        mains.erase(step);
        break;
      }
    } else if (action > 3) {
      const std::vector<std::string> programs = {"gcc", "make", "./mine", "sh"};
      const Exec exec = machine.exec(pid, {programs[static_cast<std::size_t>(action - 4)]});
      const Meaning meaning = tree.exec(exec);
      if (meaning.step) RC_ASSERT(mains.contains(*meaning.step));
      if (meaning.released) {
        RC_ASSERT(mains.contains(*meaning.released));
        mains.erase(*meaning.released);
      }
      if (meaning.what == What::begins) {
        tree.begun(JobId{++last}, exec);
        mains[JobId{last}] = pid;
        RC_ASSERT(tree.exec(machine.exec(pid, {"gcc"})).step == JobId{last});
      } else if (meaning.what == What::nothing && pid != root) {
        const int child = machine.fork(pid);
        RC_ASSERT(tree.exec(machine.exec(child, {"gcc"})).what == What::begins);
        machine.end(child);
      }
    }
  }
}

}  // namespace
}  // namespace plimsoll::govern
