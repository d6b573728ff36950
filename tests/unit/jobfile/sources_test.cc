#include "jobfile/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "jobfile/columns.h"
#include "jobfile/combinations.h"
#include "jobfile/limits.h"

namespace plimsoll::jobfile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Words = std::vector<std::string>;
using Kind = SourceSpec::Kind;

SourceSpec words(Words values, Joining joining = Joining::crossed) {
  return {.kind = Kind::words, .joining = joining, .words = std::move(values)};
}
SourceSpec file(std::string name, Joining joining = Joining::crossed) {
  return {.kind = Kind::file, .joining = joining, .file = std::move(name)};
}
Source source(const Words& values, Joining joining = Joining::crossed) {
  Source result{.joining = joining, .rows = {}};
  for (const std::string& value : values) result.rows.push_back({value});
  return result;
}

BatchWords split(const Words& all, const Words& argument_files = {}) {
  const auto result = split_batch_words(all, argument_files);
  EXPECT_TRUE(result) << (result ? "" : result.error().message());
  return *result;
}

// Each combination as its values joined by blanks.
Words combined(std::vector<Source> sources) {
  const auto combinations = Combinations::of(std::move(sources));
  EXPECT_TRUE(combinations);
  Words result;
  for (std::uint64_t i = 0; i < combinations->count(); ++i) {
    std::string text;
    for (const std::string& value : combinations->at(i)) text += (text.empty() ? "" : " ") + value;
    result.push_back(text);
  }
  return result;
}

TEST(BatchWords, AreCutAtTheMarkers) {
  const BatchWords result =
      split({"echo", "{}", ":::", "a", "b", ":::+", "c", "::::", "f", "g", "::::+", "h"});
  EXPECT_THAT(result.command, ElementsAre("echo", "{}"));
  EXPECT_THAT(result.sources, ElementsAre(words({"a", "b"}), words({"c"}, Joining::linked),
                                          file("f"), file("g"), file("h", Joining::linked)));
}

TEST(BatchWords, MayHaveNoCommandAndNoSource) {
  EXPECT_THAT(split({"echo"}).sources, IsEmpty());
  EXPECT_THAT(split({":::", "a"}).command, IsEmpty());
  EXPECT_THAT(split({"echo", ":::"}).sources, ElementsAre(words({})));
}

TEST(BatchWords, BeginWithTheArgumentFiles) {
  EXPECT_THAT(split({"echo", ":::", "x"}, {"f", "-"}).sources,
              ElementsAre(file("f"), file("-"), words({"x"})));
  EXPECT_THAT(split({"echo", ":::+", "x"}, {"f"}).sources,
              ElementsAre(file("f"), words({"x"}, Joining::linked)));
}

TEST(BatchWords, RefusesAMarkerWithoutWhatItNeeds) {
  EXPECT_THAT(split_batch_words(Words{"a", "::::"}, {}).error().message(),
              HasSubstr("found :::: without a file, expected at least one"));
  EXPECT_THAT(split_batch_words(Words{"a", ":::+", "b"}, {}).error().message(),
              HasSubstr("found :::+ as the first source"));
}

// The lines are what `parallel --dry-run -k echo` (20221122) prints after "echo ".
TEST(Combinations, AreThoseOfGnuParallel) {
  const auto linked = Joining::linked;
  EXPECT_THAT(combined({source({"a", "b"}), source({"1", "2"})}),
              ElementsAre("a 1", "a 2", "b 1", "b 2"));
  EXPECT_THAT(combined({source({"a", "b"}), source({"1", "2", "3"}, linked)}),
              ElementsAre("a 1", "b 2"));
  EXPECT_THAT(combined({source({"a", "b", "c"}), source({"1", "2"}, linked)}),
              ElementsAre("a 1", "b 2"));
  EXPECT_THAT(
      combined({source({"a", "b", "c"}), source({"1", "2", "3"}, linked), source({"X", "Y"})}),
      ElementsAre("a 1 X", "a 1 Y", "b 2 X", "b 2 Y", "c 3 X", "c 3 Y"));
  EXPECT_THAT(combined({source({"X", "Y"}), source({"a", "b"}), source({"1", "2"}, linked)}),
              ElementsAre("X a 1", "X b 2", "Y a 1", "Y b 2"));
  EXPECT_THAT(
      combined({source({"a", "b"}), source({"1", "2"}, linked), source({"3", "4"}, linked)}),
      ElementsAre("a 1 3", "b 2 4"));
  EXPECT_THAT(combined({source({"a"}), source({})}), IsEmpty());
  EXPECT_THAT(combined({}), IsEmpty());
}

TEST(Combinations, AreCountedWithoutBeingMade) {
  const Source large = source(Words(10'000, "x"));
  const auto many = Combinations::of({large, large, large});
  EXPECT_EQ(many->count(), 1'000'000'000'000U);
  EXPECT_THAT(many->at(many->count() - 1), ElementsAre("x", "x", "x"));
  EXPECT_FALSE(Combinations::of({large, large, large, large, large}));
  EXPECT_EQ(Combinations::of({large, large, large, large, large, source({})})->count(), 0U);
}

// As nested loops would have it, the last loop the innermost.
RC_GTEST_PROP(CombinationsProperty, AreNestedLoops, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(1, 6);
  const auto sizes = *rc::gen::container<std::vector<int>>(count, rc::gen::inRange(0, 5));
  std::vector<Source> sources;
  std::vector<Row> expected = {{}};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Words values;
    for (int v = 0; v < sizes[i]; ++v)
      values.push_back(std::to_string(i) + "." + std::to_string(v));
    sources.push_back(source(values));
    std::vector<Row> longer;
    for (const Row& row : expected) {
      for (const std::string& value : values) {
        longer.push_back(row);
        longer.back().push_back(value);
      }
    }
    expected = longer;
  }
  const auto combinations = Combinations::of(sources);
  RC_ASSERT(combinations->count() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) RC_ASSERT(combinations->at(i) == expected[i]);
}

// `--colsep` as in `parallel --dry-run` (20221122), blanks around columns dropped.
TEST(Columns, AreCutAndTrimmed) {
  const struct {
    const char *expression, *record;
    Row row;
  } table[] = {
      {",", "a,b", {"a", "b"}},
      {",", "c,d,e", {"c", "d", "e"}},
      {",", "  f , g ", {"f", "g"}},
      {",", ",b", {"", "b"}},
      {",", "a,", {"a", ""}},
      {",", ",", {"", ""}},
      {",", "", {""}},
      {"[,;]+", "a,;b", {"a", "b"}},
      {"\\s+", "a  b\tc", {"a", "b", "c"}},
      {"\\t", "a\tb", {"a", "b"}},
      {"x*", "axxb", {"a", "b"}},
      {"(,)", "a,b", {"a", "b"}},
      {"^,", ",a,b", {"", "a,b"}},
      {",$", "a,b,", {"a,b", ""}},
      {"[,;]", "a,b;c", {"a", "b", "c"}},
      {" *\\| *", "a | b|c", {"a", "b", "c"}},
      {"(?i)and", "a AND b and c", {"a", "b", "c"}},
      {"\\band\\b", "sand and land", {"sand", "land"}},
      {"[[:punct:]]", "a.b-c", {"a", "b", "c"}},
      {"", "abc", {"abc"}},
      {"\u2192", "x\u2192\u2192y", {"x", "", "y"}},
      {"[\u2192;]", "x\u2192y;z\u2190", {"x", "y", "z\u2190"}},
      {"\\x{2192}", "x\u2192y", {"x", "y"}},
      {"x*", "\u2192xx\u2192", {"\u2192", "\u2192"}},
      {",", "\xff,\xfe", {"\xff", "\xfe"}},
      {"\xa7", "x\xa7y", {"x", "y"}},
  };
  for (const auto& row : table) {
    EXPECT_EQ(ColumnSplitter::parse(row.expression)->split(row.record), row.row) << row.record;
  }
}

TEST(Columns, RefusesWhatIsNoExpression) {
  const struct {
    const char *bad, *part;  // what RE2 found
  } table[] = {
      {"[", "missing ]: ["}, {"(", "missing ): ("}, {"*", "no argument for repetition operator: *"},
      {"a{2,1}", "{2,1}"},   {"\\", "trailing \\"}, {"(,)\\1", "invalid escape sequence: \\1"},
      {"a(?=,)", "(?="},     {"(?<!a),", "(?<"},
  };
  for (const auto& [bad, part] : table) {
    const auto splitter = ColumnSplitter::parse(bad);
    ASSERT_FALSE(splitter) << bad;
    EXPECT_THAT(splitter.error().message(), HasSubstr("--colsep: found \"" + std::string(bad) +
                                                      "\", expected a regular expression (RE2): "));
    EXPECT_THAT(splitter.error().message(), HasSubstr(part));
  }
}

// A matcher that backtracks tries every way to divide the record: more than could ever be tried.
TEST(Columns, AreCutInLinearTime) {
  const std::string longest(kWordBytesMax, 'x');
  for (const char* expression : {"(x+x+)+y", "(x*)*y", "(x|x)*y", "(x|xx)+$,", "(.*)(.*)(.*),"}) {
    EXPECT_THAT(ColumnSplitter::parse(expression)->split(longest), ElementsAre(longest));
  }
  EXPECT_THAT(ColumnSplitter::parse("(x|y)*")->split(longest), ElementsAre("", ""));
}

}  // namespace
}  // namespace plimsoll::jobfile
