#include "report/plain.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "report/table.h"

namespace plimsoll::report {
namespace {

TEST(Printable, LetsNothingControlTheTerminal) {
  struct Row {
    const char* from;
    const char* to;
  };
  for (const auto& [from, to] :
       {Row{"plain", "plain"}, Row{"\x1b[31mred", "?[31mred"}, Row{"a\nb\tc\r", "a?b?c?"},
        Row{"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
        Row{"\xc2\x9b"
            "31m",
            "?31m"},  // C1: CSI
        Row{"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"}, Row{"cut \xe2\x82", "cut ??"},
        Row{"\xc0\xaf\xe0\x80\xaf", "?????"},               // overlong
        Row{"\xed\xa0\x80", "???"},                         // surrogate
        Row{"a\xe2\x80\xae\x62\xe2\x80\x8b\x63", "a?b?c"},  // turned around, and hidden
        Row{"\xf4\x90\x80\x80\xff\x7f", "??????"}}) {       // beyond Unicode
    EXPECT_EQ(printable(from), to) << from;
  }
}

RC_GTEST_PROP(Fitted, NeverTakesMoreThanItsWidth, (const std::string& text, std::uint8_t width)) {
  const std::string clean = printable(text);
  RC_ASSERT(printable(clean) == clean);
  RC_ASSERT(columns_of(fitted(clean, width)) <= width);
  if (columns_of(clean) <= width) RC_ASSERT(fitted(clean, width) == clean);
}

TEST(Fitted, CutsBetweenCharacters) {
  EXPECT_EQ(fitted("gr\xc3\xbc\xc3\x9f"
                   "e!",
                   6),
            "gr\xc3\xbc\xc3\x9f"
            "e!");
  EXPECT_EQ(fitted("gr\xc3\xbc\xc3\x9f"
                   "e!",
                   5),
            "gr\xc3\xbc..");
  EXPECT_EQ(fitted("long", 1), ".");
  EXPECT_EQ(fitted("long", 0), "");
}

TEST(Columns, IdeographsAndEmojiAreTwoWide) {
  const std::string tea = "\xe8\x8c\xb6";
  const std::string smile = "\xf0\x9f\x98\x80";
  EXPECT_EQ(columns_of(tea + "!" + smile), 5u);
  EXPECT_EQ(columns_of("\xe2\x94\x81"), 1u);  // of which bars are drawn
  EXPECT_EQ(fitted(tea + tea + tea, 5), tea + "..");
  EXPECT_EQ(fitted(tea + tea + tea, 6), tea + tea + tea);
}

TEST(Columns, EachKindOfCharacter) {
  struct Row {
    const char* text;
    std::size_t columns;
  };
  for (const auto& [text, columns] : {
           Row{"", 0}, Row{"plain", 5}, Row{"\u00fc\u03a9\u0416", 3},  // Latin, Greek, Cyrillic
           Row{"\u6f22\u3042\ud55c", 6},                               // Han, Hiragana, Hangul
           Row{"\U00020000\U0003fffd", 4},    // Han beyond the first plane, assigned or not
           Row{"\uff21\uff71", 3},            // A of full, katakana of half width
           Row{"\U0001f600\u231a\u2705", 6},  // emoji
           Row{"\u260e\u2764", 2},            // pictures that are shown as text
           Row{"\U0001f44d\U0001f3fd", 4},    // thumb and colour of skin: as if both were shown
           Row{"\U0001f1e9\U0001f1ea", 2},    // two letters that are one flag
           Row{"e\u0301\u6f22\u0301", 5},     // marks that combine, as if each were shown
           Row{"\U0001faff", 2},              // emoji to come
           Row{"\ue0b0", 1},                  // of private use
       }) {
    EXPECT_EQ(columns_of(text), columns) << text;
  }
}

// It is not seen, and may be used to hide a difference.
TEST(Columns, WhatJoinsEmojiIsShown) {
  const std::string family = printable("\U0001f469\u200d\U0001f4bb");
  EXPECT_EQ(family, "\U0001f469?\U0001f4bb");
  EXPECT_EQ(columns_of(family), 5U);
}

TEST(TableText, AlignsAndCutsTheLastColumn) {
  EXPECT_EQ(table_text({{"n", Align::right, {"1", "22"}},
                        {"kind", Align::left, {"a", "bb"}},
                        {"job", Align::left, {"short", "rather a long one"}}},
                       24),
            "   n  kind  job\n"
            "   1  a     short\n"
            "  22  bb    rather a l..\n");
}

TEST(LabelledText, WrapsBelowTheFirstItem) {
  EXPECT_EQ(labelled_text("time", {}, 40), "");
  EXPECT_EQ(labelled_text("time", {"wall 1 s", "user 2 s"}, 40),
            "  time         wall 1 s, user 2 s\n");
  EXPECT_EQ(labelled_text("left behind", {"wall 1 s", "user 2 s", "more"}, 32),
            "  left behind  wall 1 s,\n"
            "               user 2 s, more\n");
}

TEST(FittedInTheMiddle, KeepsBothEnds) {
  EXPECT_EQ(fitted_in_the_middle("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(fitted_in_the_middle("abcdefghij", 8), "abc..hij");
  EXPECT_EQ(fitted_in_the_middle("abcdefghij", 5), "ab..j");
  EXPECT_EQ(fitted_in_the_middle("abcdefghij", 1), ".");
  EXPECT_EQ(fitted_in_the_middle("\u6f22\u5b57\u6f22\u5b57", 7), "\u6f22..\u5b57");
}

}  // namespace
}  // namespace plimsoll::report
