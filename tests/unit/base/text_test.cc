#include "base/text.h"

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

TEST(TakeUntil, CutsTheHeadAndTheSeparatorOff) {
  std::string_view rest = "a:b";
  EXPECT_EQ(take_until(rest, ':'), "a");
  EXPECT_EQ(rest, "b");
  EXPECT_EQ(take_until(rest, ':'), "b");
  EXPECT_EQ(rest, "");
}

TEST(CutUtf8, EndsWithAWholeCharacter) {
  EXPECT_EQ(cut_utf8("abc", 3), "abc");
  EXPECT_EQ(cut_utf8("abc", 2), "ab");
  EXPECT_EQ(cut_utf8("a\u00fcb", 2), "a");
  EXPECT_EQ(cut_utf8("a\u00fcb", 3), "a\u00fc");
  EXPECT_EQ(cut_utf8("\U0001F600", 3), "");
  EXPECT_EQ(cut_utf8("", 0), "");
}

TEST(ToU64, TakesWholeDecimalNumbersOnly) {
  EXPECT_EQ(to_u64("0"), 0u);
  EXPECT_EQ(to_u64("18446744073709551615"), 18446744073709551615u);
  for (const auto* bad :
       {"", " 1", "1 ", "-1", "+1", "0x1", "max", "18446744073709551616", "1.5"}) {
    EXPECT_EQ(to_u64(bad), std::nullopt) << bad;
  }
}

TEST(ToDouble, TakesPlainFractionsOnly) {
  EXPECT_EQ(to_double("1.50"), 1.5);
  for (const auto* bad : {"", "nan", "inf", "1e3", "-1", "1.2.3", "."}) {
    EXPECT_EQ(to_double(bad), std::nullopt) << bad;
  }
}

TEST(TakeKeyedNumber, PassesOverLinesOfAnotherForm) {
  std::string_view rest = "low 0\noneword\nhigh max\n \nmax 7\nlast 9";
  EXPECT_EQ(take_keyed_number(rest)->key, "low");
  const auto max = take_keyed_number(rest);
  EXPECT_EQ(max->key, "max");
  EXPECT_EQ(max->value, 7u);
  EXPECT_EQ(take_keyed_number(rest)->value, 9u);
  EXPECT_FALSE(take_keyed_number(rest));
}

}  // namespace
}  // namespace plimsoll
