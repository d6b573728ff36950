#include "supervisor/output/stream.h"

#include <gtest/gtest.h>

namespace plimsoll::output {
namespace {

constexpr std::size_t kNoLimit = 1 << 20;

TEST(AppendTagged, PutsTheTagInFrontOfEachLine) {
  std::string out;
  InLine at = InLine::start;
  EXPECT_EQ(append_tagged(out, "a b", "one\n\ntwo\n", kNoLimit, at), 9u);
  EXPECT_EQ(out, "a b\tone\na b\t\na b\ttwo\n");
  EXPECT_EQ(at, InLine::start);
}

TEST(AppendTagged, GoesOnInTheMiddleOfALine) {
  std::string out;
  InLine at = InLine::start;
  append_tagged(out, "t", "on", kNoLimit, at);
  EXPECT_EQ(at, InLine::middle);
  append_tagged(out, "t", "e\ntw", kNoLimit, at);
  append_tagged(out, "t", "o\n", kNoLimit, at);
  EXPECT_EQ(out, "t\tone\nt\ttwo\n");
  EXPECT_EQ(at, InLine::start);
}

TEST(AppendTagged, StopsBetweenLinesAtTheLimit) {
  std::string out;
  InLine at = InLine::start;
  EXPECT_EQ(append_tagged(out, "long tag", "a\nb\nc\n", 12, at), 4u);
  EXPECT_EQ(out, "long tag\ta\nlong tag\tb\n");
}

TEST(AppendTagged, TakesOneLineBeyondAnyLimit) {
  std::string out = "full";
  InLine at = InLine::start;
  EXPECT_EQ(append_tagged(out, "t", "a\nb\n", 1, at), 2u);
}

TEST(AppendTagged, AnEmptyTagIsATag) {
  std::string out;
  InLine at = InLine::start;
  append_tagged(out, "", "a\n", kNoLimit, at);
  EXPECT_EQ(out, "\ta\n");
}

TEST(AppendTagged, WithoutATagBytesAreAsTheyWere) {
  std::string out;
  InLine at = InLine::start;
  EXPECT_EQ(append_tagged(out, std::nullopt, "a\nb", 1, at), 3u);
  EXPECT_EQ(out, "a\nb");
  EXPECT_EQ(at, InLine::middle);
  EXPECT_EQ(append_tagged(out, std::nullopt, "", 1, at), 0u);
  EXPECT_EQ(at, InLine::middle);
}

}  // namespace
}  // namespace plimsoll::output
