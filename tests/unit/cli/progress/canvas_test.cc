#include "cli/progress/canvas.h"

#include <gtest/gtest.h>

namespace plimsoll::cli {
namespace {

TEST(Canvas, DrawsInPlaceWithTheCursorAtTheTop) {
  Canvas canvas;
  EXPECT_EQ(canvas.replace("", {"one", "two", "three"}),
            "\x1b[?2026h\x1b[0m\x1b[?7lone\x1b[K\r\ntwo\x1b[K\r\nthree\x1b[K\x1b[J\x1b[2A\r\x1b[?7h"
            "\x1b[?2026l");
  EXPECT_TRUE(canvas.drawn());
  // Over the old one, without erasing it first.
  EXPECT_EQ(canvas.replace("", {"1"}),
            "\x1b[?2026h\r\x1b[0m\x1b[?7l1\x1b[K\x1b[J\r\x1b[?7h\x1b[?2026l");
}

TEST(Canvas, PrintsAboveTheFrame) {
  Canvas canvas;
  EXPECT_EQ(canvas.replace("hello\n", {}), "\x1b[?2026hhello\n\x1b[?2026l");
  EXPECT_FALSE(canvas.drawn());
  (void)canvas.replace("", {"one", "two"});
  EXPECT_EQ(canvas.replace("hello\n", {"one"}),
            "\x1b[?2026h\r\x1b[Jhello\n\x1b[0m\x1b[?7lone\x1b[K\x1b[J\r\x1b[?7h\x1b[?2026l");
}

TEST(Canvas, ErasesWhatItDrewAndNothingElse) {
  Canvas canvas;
  EXPECT_EQ(canvas.erase(), "");
  (void)canvas.replace("", {"one", "two"});
  EXPECT_EQ(canvas.erase(), "\x1b[?2026h\r\x1b[J\x1b[?2026l");
  EXPECT_EQ(canvas.erase(), "");
}

TEST(Canvas, LeavesAloneWhatItHasForgotten) {
  Canvas canvas;
  (void)canvas.replace("", {"one"});
  canvas.forget();
  EXPECT_EQ(canvas.erase(), "");
}

TEST(TakeWholeLines, LeavesTheBeginOfTheNext) {
  std::string text = "one\ntwo\nthr";
  EXPECT_EQ(take_whole_lines(text), "one\ntwo\n");
  EXPECT_EQ(text, "thr");
  EXPECT_EQ(take_whole_lines(text), "");
  EXPECT_EQ(text, "thr");
}

}  // namespace
}  // namespace plimsoll::cli
