#include "govern/exec_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace plimsoll::govern {
namespace {

using Words = std::vector<std::string>;

TEST(ParseInterpreter, TakesTheWordsOfTheFirstLine) {
  EXPECT_EQ(parse_interpreter("#!/bin/sh\necho"), Words({"/bin/sh"}));
  EXPECT_EQ(parse_interpreter("#! /usr/bin/env  bash\n"), Words({"/usr/bin/env", "bash"}));
  EXPECT_EQ(parse_interpreter("#!/bin/sh"), Words({"/bin/sh"}));
  EXPECT_EQ(parse_interpreter("#!"), Words());
  EXPECT_EQ(parse_interpreter("#!  \n"), Words());
  EXPECT_EQ(parse_interpreter("\x7f"
                              "ELF"),
            Words());
  EXPECT_EQ(parse_interpreter(""), Words());
}

TEST(ParseMark, TellsWhetherSomethingWasExecuted) {
  const std::string forked =
      "7 (a) b) S 1 7 7 0 -1 4194368 1 0 0 0 0 0 0 0 20 0 1 0 5 6 7 8 9 10 4096 0 0\n";
  const auto mark = parse_mark(forked);
  ASSERT_TRUE(mark);
  EXPECT_FALSE(mark->has_executed);
  EXPECT_EQ(mark->stack, 4096u);
  const auto executed =
      parse_mark("7 (a) S 1 7 7 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 5 6 7 8 9 10 4096 0 0\n");
  ASSERT_TRUE(executed);
  EXPECT_TRUE(executed->has_executed);
}

TEST(ParseMark, TakesNothingElse) {
  for (const char* text : {"", "7", "7 (a", "7 (a) S 1", "7 (a) S 1 7 7 0 -1 x 1 0 0 0 0",
                           "7 (a) S 1 7 7 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 5 6 7 8 9 10"}) {
    EXPECT_FALSE(parse_mark(text)) << text;
  }
}

TEST(MarkOf, ThisProcessHasExecuted) {
  const auto mark = mark_of(::getpid());
  ASSERT_TRUE(mark);
  EXPECT_TRUE(mark->has_executed);
  EXPECT_FALSE(mark_of(-1));
}

}  // namespace
}  // namespace plimsoll::govern
