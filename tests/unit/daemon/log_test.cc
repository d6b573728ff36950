#include "daemon/log.h"

#include <gtest/gtest.h>

namespace plimsoll::daemon {
namespace {

TEST(LogLine, NamesOfOthersMakeNoLines) {
  EXPECT_EQ(log_line("job a: stuck"), "plimsolld: job a: stuck\n");
  EXPECT_EQ(log_line("job a\nplimsolld: all is well\r\x1b]0;x\x07: stuck"),
            "plimsolld: job a?plimsolld: all is well??]0;x?: stuck\n");
  EXPECT_EQ(log_line("gr\u00fcn"), "plimsolld: gr\u00fcn\n");
}

}  // namespace
}  // namespace plimsoll::daemon
