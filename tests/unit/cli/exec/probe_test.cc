#include "cli/exec/command_kinds.h"

#include <gtest/gtest.h>

namespace plimsoll::cli {
namespace {

TEST(ProbeTest, QuestionsToAToolAreToldFromWork) {
  using Command = std::vector<std::string>;
  for (const Command& command :
       {Command{"gcc", "--version"}, Command{"rustc", "-vV"}, Command{"cc", "-dumpmachine"},
        Command{"gcc", "-print-search-dirs"}, Command{"gcc", "-v", "-V"}, Command{"cc", "-E", "-"},
        Command{"x86_64-linux-gnu-gcc-12", "-v"}, Command{"make", "--version"},
        Command{"cc", "-dM", "-E", "-x", "c", "/dev/null"},
        Command{"rustc", "-", "--crate-name", "___", "--print=file-names"}}) {
    EXPECT_TRUE(is_probe(command)) << command[1];
  }
  for (const Command& command :
       {Command{"gcc"}, Command{"gcc", "-c", "a.c"}, Command{"gcc", "-v", "a.c"},
        Command{"cc", "-E", "a.c"}, Command{"gcc", "-c", "-", "-o", "a.o"},
        Command{"sh", "-c", "make --version"}, Command{"pytest", "-v"}, Command{"ctest", "-V"},
        Command{"./suite", "-h"}, Command{"./suite", "--print=all"},
        Command{"grep", "-E", "a", "/dev/null"}}) {
    EXPECT_FALSE(is_probe(command)) << command.back();
  }
}

}  // namespace
}  // namespace plimsoll::cli
