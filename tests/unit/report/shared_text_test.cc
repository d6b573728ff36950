#include "report/shared_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "report/plain.h"

namespace plimsoll::report {
namespace {

SharedText of(const std::vector<std::string>& texts) {
  SharedText shared;
  for (const std::string& text : texts) shared.add(text);
  return shared;
}

TEST(SharedText, ShowsAllThatFits) {
  const SharedText shared = of({"cc -c a.c", "cc -c b.c"});
  EXPECT_EQ(shared.fitted("cc -c a.c", 9), "cc -c a.c");
  EXPECT_EQ(shared.fitted("cc -c a.c", 8), "..a.c");
}

TEST(SharedText, LeavesOutWordsAndDirectoriesThatAllHave) {
  const auto own = [](const std::vector<std::string>& texts) {
    return of(texts).distinct_part(texts.front());
  };
  EXPECT_EQ(own({"cc -O2 -c main.c -o main.o", "cc -O2 -c make.c -o make.o"}),
            "..main.c -o main.o");
  EXPECT_EQ(own({"wc -l /srv/data/one.txt", "wc -l /srv/data/two.txt"}), "..one.txt");
  EXPECT_EQ(own({"unpack a >log 2>&1", "unpack b >log 2>&1"}), "..a ..");
  EXPECT_EQ(own({"a 1", "a 2"}), "a 1");  // nothing is won
  EXPECT_EQ(own({"make", "make all"}), "make");
  EXPECT_EQ(own({"make all", "make"}), "make all");
  EXPECT_EQ(own({"true", "true"}), "true");
  EXPECT_EQ(own({"sleep 10"}), "sleep 10");
  EXPECT_EQ(own({"run x x", "run x x x"}), "..x");  // what is repeated is shared once
  EXPECT_EQ(of({}).distinct_part("make"), "make");
}

TEST(SharedText, CutsTheMiddleOfWhatIsLeft) {
  const std::string one = "encode in/a.mkv --preset slow out/a.mp4";
  const SharedText shared = of({one, "encode in/b.mkv --preset slow out/b.mp4"});
  EXPECT_EQ(shared.fitted(one, 24), "..a.mkv --p..w out/a.mp4");
}

RC_GTEST_PROP(SharedTextProperty, FitsAndIsFitToPrint, ()) {
  const auto letters =
      rc::gen::container<std::string>(rc::gen::element('a', 'b', ' ', '/', '\x1b', '\xc3'));
  const auto texts = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(letters));
  const SharedText shared = of(texts);
  const auto width = *rc::gen::inRange<std::size_t>(0, 20);
  for (const std::string& text : texts) {
    const std::string shown = shared.fitted(text, width);
    RC_ASSERT(columns_of(shown) <= width);
    RC_ASSERT(printable(shown) == shown);
    if (columns_of(printable(text)) <= width) RC_ASSERT(shown == printable(text));
  }
}

}  // namespace
}  // namespace plimsoll::report
