#include "base/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

RC_GTEST_PROP(WordsProperty, AreThoseTheyWereMadeOf, (const std::vector<std::string>& texts)) {
  const Words words(texts);
  RC_ASSERT(words.size() == texts.size());
  RC_ASSERT(words.empty() == texts.empty());
  RC_ASSERT(words.all() == texts);
  RC_ASSERT(std::equal(words.begin(), words.end(), texts.begin(), texts.end()));
  for (const std::string_view word : words) RC_ASSERT(word.data()[word.size()] == '\0');
}

TEST(Words, OfNoneHaveNone) {
  const Words words;
  EXPECT_THAT(words, IsEmpty());
  EXPECT_EQ(words.begin(), words.end());
  EXPECT_EQ(words, Words(std::vector<std::string>{}));
  EXPECT_NE(words, Words{""});
}

TEST(Words, AreTheSameByWordsNotByLetters) {
  EXPECT_EQ((Words{"a", "bc"}), Words(std::vector<std::string>{"a", "bc"}));
  EXPECT_NE((Words{"a", "bc"}), (Words{"ab", "c"}));
  EXPECT_NE((Words{"a"}), (Words{"a", ""}));
}

TEST(Words, ACopyHasTheSameBlock) {
  const Words words = {"a", std::string(100'000, 'b')};
  const Words copy = words;
  EXPECT_EQ(copy.block().data(), words.block().data());
}

TEST(Words, SomeOfThem) {
  const Words words = {"cc", "-c", "a.c", "b.c"};
  EXPECT_THAT(words.first(2), ElementsAre("cc", "-c"));
  EXPECT_THAT(words.first(9), ElementsAre("cc", "-c", "a.c", "b.c"));
  EXPECT_THAT(words.within(1000), ElementsAre("cc", "-c", "a.c", "b.c"));
  EXPECT_THAT(words.within(2 * (2 + Words::kAround)), ElementsAre("cc", "-c"));
  EXPECT_THAT(words.within(0), ElementsAre("cc")) << "a command has a first word";
  EXPECT_EQ(words.from(std::next(words.begin(), 4)), "");
  EXPECT_EQ(words.from(words.begin()), words.block());
}

TEST(WordsBuilder, JoinsPartsAndWords) {
  WordsBuilder builder;
  builder.add("A=", "1");
  builder.add(Words{"B", "C"});
  EXPECT_EQ(builder.size(), 3u);
  EXPECT_THAT(builder.take(), ElementsAre("A=1", "B", "C"));
  EXPECT_THAT(builder.take(), IsEmpty()) << "it has been taken";
}

}  // namespace
}  // namespace plimsoll
