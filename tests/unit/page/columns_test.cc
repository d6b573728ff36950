#include "page/columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace plimsoll::page {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Ticks, AreAMillionthOfTheRunAtMost) {
  EXPECT_EQ(Ticks(0s).length(), 1us);
  EXPECT_EQ(Ticks(1s).length(), 1us);
  EXPECT_EQ(Ticks(9s).length(), 1us);
  EXPECT_EQ(Ticks(10s).length(), 10us);
  EXPECT_EQ(Ticks(1h).length(), 1ms);
}

TEST(Ticks, AreRoundedToTheNearest) {
  const Ticks ticks(10s);
  EXPECT_EQ(ticks.of(14us), 1);
  EXPECT_EQ(ticks.of(15us), 2);
  EXPECT_EQ(ticks.of(-15us), -2);
}

TEST(Kibibytes, AreRoundedAndDoNotWrap) {
  EXPECT_EQ(kibibytes(Bytes{511}), 0);
  EXPECT_EQ(kibibytes(Bytes{512}), 1);
  EXPECT_EQ(kibibytes(Bytes{~0ULL}), static_cast<std::int64_t>(~0ULL / 1024));
}

TEST(DeltaColumn, WritesDifferencesAndKeepsWhatIsAbsent) {
  DeltaColumn column;
  for (const auto value : {std::optional<std::int64_t>(5), {}, {7}, {4}}) column.add(value);
  EXPECT_EQ(column.take().dump(), "[5,null,2,-3]");
}

TEST(TextTable, KeepsEachTextOnce) {
  TextTable table;
  EXPECT_EQ(table.place_of("a"), 0U);
  EXPECT_EQ(table.place_of("b"), 1U);
  EXPECT_EQ(table.place_of("a"), 0U);
  EXPECT_EQ(table.take().dump(), R"(["a","b"])");
}

TEST(Sentence, IsTakenApartAtItsNumbers) {
  const Sentence sentence = sentence_of("needs 81.3 MiB of 2, in v1.2.3.");
  EXPECT_EQ(sentence.frame, "needs \n MiB of \n, in v\n.");
  EXPECT_THAT(sentence.numbers, ElementsAre("81.3", "2", "1.2.3"));
}

TEST(Sentence, HasNoNewlineOfItsOwn) {
  const Sentence sentence = sentence_of("a\nb");
  EXPECT_EQ(sentence.frame, "a b");
  EXPECT_THAT(sentence.numbers, IsEmpty());
}

TEST(Rounded, HasFourDigits) {
  EXPECT_EQ(rounded(681587731), "6.816e+08");
  EXPECT_EQ(rounded(0), "0");
  EXPECT_EQ(rounded(1.083), "1.083");
}

}  // namespace
}  // namespace plimsoll::page
