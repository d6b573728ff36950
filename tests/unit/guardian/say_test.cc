#include "guardian/say.h"

#include <gtest/gtest.h>

namespace plimsoll::guardian {
namespace {

TEST(Plain, ANameSpeaksToNoTerminalAndBeginsNoLine) {
  EXPECT_EQ(plain("cc1plus"), "cc1plus");
  EXPECT_EQ(plain("\033c\nplimsoll: x"), "?c?plimsoll: x");
  EXPECT_EQ(plain("\x9b"
                  "2J\x7f"),
            "?2J?");
}

}  // namespace
}  // namespace plimsoll::guardian
