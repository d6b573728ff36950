#include "govern/drivers.h"

#include <gtest/gtest.h>

namespace plimsoll::govern {
namespace {

Exec exec(std::vector<std::string> argv, std::vector<std::string> interpreter = {}) {
  Exec made;
  made.file = argv.front();
  made.argv = std::move(argv);
  made.interpreter = std::move(interpreter);
  return made;
}

TEST(Drivers, AreKnownByName) {
  const Drivers drivers;
  for (const char* name : {"make", "/usr/bin/gmake", "/usr/bin/ninja", "xargs", "./ctest", "cargo",
                           "/usr/local/go/bin/go", "cmake", "n2", "buck2", "make-4.4"}) {
    EXPECT_EQ(drivers.role_of(exec({name})), Role::driver) << name;
  }
}

TEST(Drivers, CompilersAreWhole) {
  const Drivers drivers;
  for (const char* name : {"gcc", "/usr/bin/g++-12", "x86_64-linux-gnu-gcc-12", "clang-19", "cc",
                           "/usr/lib/gcc/x86_64-linux-gnu/12/collect2", "rustc", "ld.lld"}) {
    EXPECT_EQ(drivers.role_of(exec({name, "-c", "a.c"})), Role::whole) << name;
  }
}

TEST(Drivers, WhoMayHoldSeveralTokensIsKnownByName) {
  for (const char* name : {"rustc", "/usr/bin/rustdoc", "wild", "scripts/jobserver-exec",
                           "plimsoll", "/usr/lib/gcc/x86_64-linux-gnu/12/lto-wrapper"}) {
    EXPECT_TRUE(may_hold_tokens(exec({name}))) << name;
  }
  EXPECT_FALSE(may_hold_tokens(exec({"plimsoll", "exec", "--", "gcc"})));
  EXPECT_FALSE(may_hold_tokens(exec({"plimsoll-exec", "rustc"})));
  for (const char* name : {"gcc", "make", "cargo", "sh"}) {
    EXPECT_FALSE(may_hold_tokens(exec({name}))) << name;
  }
}

TEST(Drivers, ShellsAreByTheirArguments) {
  const Drivers drivers;
  EXPECT_EQ(drivers.role_of(exec({"/bin/sh", "-c", "gcc a.c"})), Role::whole);
  EXPECT_EQ(drivers.role_of(exec({"bash", "-ec", "a | b"})), Role::whole);
  EXPECT_EQ(drivers.role_of(exec({"bash", "build.sh"})), Role::driver);
  EXPECT_EQ(drivers.role_of(exec({"/bin/bash"})), Role::driver);
  EXPECT_EQ(drivers.role_of(exec({"zsh", "-i"})), Role::driver);
  EXPECT_EQ(drivers.role_of(exec({"bash", "--norc", "build.sh"})), Role::driver);
}

TEST(Drivers, ATaskOfNextflowIsOneStep) {
  const Drivers drivers;
  EXPECT_EQ(drivers.role_of(exec({"bash", "/tmp/ab/cd/.command.run", "nxf_trace"})), Role::whole);
  EXPECT_EQ(drivers.role_of(exec({"/bin/bash", "-ue", "/tmp/ab/cd/.command.sh"})), Role::whole);
}

TEST(Drivers, ScriptsAreByTheirInterpreter) {
  const Drivers drivers;
  EXPECT_EQ(drivers.role_of(exec({"./run.sh"}, {"/bin/sh"})), Role::driver);
  EXPECT_EQ(drivers.role_of(exec({"./run"}, {"/usr/bin/env", "bash"})), Role::driver);
  EXPECT_EQ(drivers.role_of(exec({"/usr/bin/pytest"}, {"/usr/bin/python3"})), Role::driver);
  EXPECT_EQ(drivers.role_of(exec({"/usr/bin/npm"}, {"/usr/bin/env", "node"})), Role::driver);
  EXPECT_EQ(drivers.role_of(exec({"/usr/bin/a.py"}, {"/usr/bin/python3"})), Role::unknown);
  EXPECT_EQ(drivers.role_of(exec({"./x"}, {"/usr/bin/env"})), Role::unknown);
}

TEST(Drivers, InterpretersAreByTheirScript) {
  const Drivers drivers;
  EXPECT_EQ(drivers.role_of(exec({"python3", "-m", "pytest", "-n", "4"})), Role::driver);
  EXPECT_EQ(drivers.role_of(exec({"/usr/bin/python3.11", "/usr/bin/snakemake"})), Role::driver);
  EXPECT_EQ(drivers.role_of(exec({"perl", "/usr/bin/parallel", "gzip"})), Role::driver);
  EXPECT_EQ(drivers.role_of(exec({"node", "/usr/lib/npm/bin/npm-cli.js", "ci"})), Role::driver);
  EXPECT_EQ(drivers.role_of(exec({"python3", "-c", "import pytest"})), Role::unknown);
  EXPECT_EQ(drivers.role_of(exec({"python3", "-u", "train.py"})), Role::unknown);
  EXPECT_EQ(drivers.role_of(exec({"python3", "-m", "json.tool"})), Role::unknown);
  EXPECT_EQ(drivers.role_of(exec({"java", "-cp", "x", "org.gradle.launcher.GradleMain"})),
            Role::driver);
  EXPECT_EQ(drivers.role_of(exec({"java", "-jar", "picard.jar"})), Role::unknown);
}

TEST(Drivers, TheirWorkersAreWhole) {
  const Drivers drivers;
  const std::string told = "import sys;exec(eval(sys.stdin.readline()))";
  EXPECT_EQ(drivers.role_of(exec({"/usr/bin/python3", "-u", "-c", told})), Role::whole);
  EXPECT_EQ(
      drivers.role_of(exec({"python3", "-m", "snakemake", "-c", "8", "--mode", "subprocess"})),
      Role::whole);
  EXPECT_EQ(drivers.role_of(exec({"python3", "-m", "snakemake", "-c", "8"})), Role::driver);
  EXPECT_EQ(drivers.role_of(exec({"other", "--mode", "subprocess"})), Role::unknown);
}

// Its server, which compiles for all of its clients, is one of them.
TEST(Drivers, ACompilerCacheWithAServerIsOne) {
  const Drivers drivers;
  EXPECT_EQ(drivers.role_of(exec({"/usr/bin/sccache", "g++", "-c", "a.cc"})), Role::driver);
  EXPECT_EQ(drivers.role_of(exec({"ccache", "g++", "-c", "a.cc"})), Role::whole);
}

TEST(Drivers, OfTheUsersAreAdded) {
  EXPECT_EQ(Drivers().role_of(exec({"mybuild"})), Role::unknown);
  EXPECT_EQ(Drivers({"mybuild"}).role_of(exec({"/opt/mybuild", "all"})), Role::driver);
  EXPECT_EQ(Drivers({"build.py"}).role_of(exec({"python3", "tools/build.py"})), Role::driver);
  EXPECT_EQ(Drivers({"build"}).role_of(exec({"python3", "tools/build.py"})), Role::driver);
  EXPECT_EQ(Drivers({"build.py"}).role_of(exec({"./build.py"}, {"/usr/bin/python3"})),
            Role::driver);
}

TEST(Drivers, OtherPlimsollsGovernThemselves) {
  const Drivers drivers;
  EXPECT_EQ(drivers.role_of(exec({"plimsoll", "batch", "jobs"})), Role::governor);
  EXPECT_EQ(drivers.role_of(exec({"plimsolld"})), Role::governor);
  EXPECT_EQ(drivers.role_of(exec({"plimsoll", "govern", "--", "make"})), Role::driver);
  EXPECT_EQ(drivers.role_of(exec({"plimsoll", "session", "--", "bash"})), Role::driver);
  EXPECT_EQ(drivers.role_of(exec({"plimsoll", "exec", "--", "gcc"})), Role::driver);
  EXPECT_EQ(drivers.role_of(exec({"/usr/bin/plimsoll-exec", "gcc"})), Role::driver);
}

// The program is the step, under its own name.
TEST(Drivers, TheHelperThroughWhichJavaStartsProgramsIsOne) {
  const Drivers drivers;
  const char* helper = "/usr/lib/jvm/java-17-openjdk-amd64/lib/jspawnhelper";
  EXPECT_EQ(drivers.role_of(exec({helper, "17.0.15+6-Debian-1deb12u1", "27:28:30"})), Role::driver);
}

TEST(Drivers, WhoShowsRunsIsNone) {
  const Drivers drivers;
  for (const char* what : {"ctl", "top", "explain", "list"}) {
    EXPECT_TRUE(shows_runs(exec({"plimsoll", what, "last"})));
    EXPECT_EQ(drivers.role_of(exec({"plimsoll", what, "last"})), Role::unknown);
  }
  EXPECT_FALSE(shows_runs(exec({"plimsoll", "batch", "ctl"})));
  EXPECT_FALSE(shows_runs(exec({"plimsoll"})));
  EXPECT_FALSE(shows_runs(exec({"make", "ctl"})));
}

TEST(Drivers, AShellThatRunsTheLauncherIsOne) {
  const Drivers drivers;
  for (const char* text :
       {"plimsoll exec -- gcc -c a.c", "/opt/bin/plimsoll exec -- gcc -c a.c",
        "cd sub && plimsoll-exec gcc -c a.c", "L=1 /usr/bin/plimsoll-exec gcc"}) {
    EXPECT_EQ(drivers.role_of(exec({"/bin/sh", "-c", text})), Role::driver) << text;
  }
  for (const char* text : {"plimsoll run -- gcc", "exec gcc a.c", "gcc plimsoll exec.c", ""}) {
    EXPECT_EQ(drivers.role_of(exec({"/bin/sh", "-c", text})), Role::whole) << text;
  }
}

TEST(Drivers, NothingOfNoUseBreaksThem) {
  const Drivers drivers;
  EXPECT_EQ(drivers.role_of(Exec{}), Role::unknown);
  EXPECT_EQ(drivers.role_of(exec({""})), Role::unknown);
  EXPECT_EQ(drivers.role_of(exec({"/"})), Role::unknown);
  EXPECT_EQ(drivers.role_of(exec({"sh", ""})), Role::driver);
  EXPECT_EQ(drivers.role_of(exec({"python3"})), Role::unknown);
}

TEST(ProgramName, LeavesVersionsOut) {
  EXPECT_EQ(program_name("/usr/bin/python3.11"), "python");
  EXPECT_EQ(program_name("gcc-12"), "gcc");
  EXPECT_EQ(program_name("42"), "42");
  EXPECT_EQ(program_name("g++"), "g++");
  EXPECT_EQ(program_name("-1"), "-");
}

TEST(Resumes, BuildToolsDo) {
  EXPECT_TRUE(resumes(Words{"/usr/bin/ninja", "-j64"}));
  EXPECT_TRUE(resumes(Words{"make"}));
  EXPECT_FALSE(resumes(Words{"xargs", "true"}));
  EXPECT_FALSE(resumes(Words{"./script.sh"}));
  EXPECT_FALSE(resumes(Words()));
}

}  // namespace
}  // namespace plimsoll::govern
