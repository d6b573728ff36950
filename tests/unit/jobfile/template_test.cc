#include "jobfile/template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace plimsoll::jobfile {
namespace {

using policy::Command;
using policy::kSlotMark;
using Words = std::vector<std::string>;

Command fill(const Words& words, const Words& values, std::uint64_t sequence = 1) {
  const auto command = CommandTemplate::parse(words);
  EXPECT_TRUE(command) << (command ? "" : command.error().message());
  return command->fill(values, sequence);
}
std::string shell(const std::string& text, const Words& values) {
  return std::get<std::string>(fill({text}, values));
}
Words argv_of(const Command& command) { return std::get<plimsoll::Words>(command).all(); }
Words argv(const Words& words, const Words& values) { return argv_of(fill(words, values)); }

// {} {.} {/} {//} {/.} as `parallel --dry-run` (20221122) fills them in, its empty results
// included.
TEST(Part, IsAsInGnuParallel) {
  const struct {
    const char *value, *without_suffix, *base, *directory, *base_sans_suffix;
  } table[] = {
      {"a/b.c.txt", "a/b.c", "b.c.txt", "a", "b.c"},
      {".bashrc", "", ".bashrc", ".", ""},
      {"d/.hidden", "d/", ".hidden", "d", ""},
      {"a.", "a", "a.", ".", "a"},
      {"foo", "foo", "foo", ".", "foo"},
      {"/foo", "/foo", "foo", "/", "foo"},
      {"a//b", "a//b", "b", "a", "b"},
      {"a/", "a/", "", ".", ""},
      {"a.b/c", "a.b/c", "c", "a.b", "c"},
      {"a.b/c.d", "a.b/c", "c.d", "a.b", "c"},
      {"/", "/", "", "/", ""},
      {"", "", "", ".", ""},
      {"x.tar.gz", "x.tar", "x.tar.gz", ".", "x.tar"},
      {"../x.y", "../x", "x.y", "..", "x"},
      {"./.a.b", "./.a", ".a.b", ".", ".a"},
      {"..", ".", "..", ".", "."},
      {".", "", ".", ".", ""},
      {"a/..", "a/.", "..", "a", "."},
  };
  for (const auto& row : table) {
    EXPECT_EQ(part_of(row.value, Part::whole), row.value);
    EXPECT_EQ(part_of(row.value, Part::without_suffix), row.without_suffix) << row.value;
    EXPECT_EQ(part_of(row.value, Part::base), row.base) << row.value;
    EXPECT_EQ(part_of(row.value, Part::directory), row.directory) << row.value;
    EXPECT_EQ(part_of(row.value, Part::base_sans_suffix), row.base_sans_suffix) << row.value;
  }
}

TEST(Replacement, KnowsTheStringsOfGnuParallel) {
  using What = Replacement::What;
  const std::pair<const char*, Replacement> table[] = {
      {"", {What::all, Part::whole}},
      {".", {What::all, Part::without_suffix}},
      {"/", {What::all, Part::base}},
      {"//", {What::all, Part::directory}},
      {"/.", {What::all, Part::base_sans_suffix}},
      {"#", {What::sequence}},
      {"%", {What::slot}},
      {"1", {What::one, Part::whole, 1}},
      {"12/.", {What::one, Part::base_sans_suffix, 12}},
      {"-1", {What::one, Part::whole, -1}},
      {"-2//", {What::one, Part::directory, -2}},
  };
  for (const auto& [text, replacement] : table) EXPECT_EQ(parse_replacement(text), replacement);
  for (const char* text : {"0", "-0", "-", "a", "1a", "..", "///", "./", " ", "1 ", "+1", "1-",
                           "9999999", "99999999999999999999", "##", "1#", "-.", "--1"}) {
    EXPECT_FALSE(parse_replacement(text)) << text;
  }
}

// The right-hand sides are what `parallel --dry-run` (20221122) prints.
TEST(Template, FillsShellTextAsGnuParallel) {
  const struct {
    const char* text;
    Words values;
    const char* filled;
  } table[] = {
      {"echo", {"a"}, "echo a"},
      {"echo", {"a", "1"}, "echo a 1"},
      {"echo {}", {"a", "1"}, "echo a 1"},
      {"echo {1} {2} {3} {-1} {-2} {-3}", {"a", "1"}, "echo a 1  1 a "},
      {"echo pre{}post {.}", {"a.x", "1.z"}, "echo prea.x 1.zpost a 1"},
      {"echo {/}-{1/.}-{2//}-{-1/}", {"d/a.x", "e/b.y"}, "echo a.x b.y-a-e-b.y"},
      {"echo {2}", {"a"}, "echo "},
      {"echo {#}", {"a"}, "echo 1"},
      {"echo", {""}, "echo ''"},
      {"echo x{}x", {""}, "echo x''x"},
      {"echo {+} {a} {", {"a"}, "echo {+} {a} { a"},
      {"echo {{}}", {"a"}, "echo {a}"},
  };
  for (const auto& row : table) EXPECT_EQ(shell(row.text, row.values), row.filled);
}

TEST(Template, QuotesValuesInShellText) {
  EXPECT_EQ(shell("echo {}", {"a b"}), "echo a\\ b");
  EXPECT_EQ(shell("echo {}", {"it's"}), "echo it\\'s");
  EXPECT_EQ(shell("echo {}", {"x\ny"}), "echo x'\n'y");
  EXPECT_EQ(shell("echo {}", {"$(reboot)"}), "echo \\$\\(reboot\\)");
  EXPECT_EQ(shell("echo {.}", {"a b.c"}), "echo a\\ b");
}

TEST(Template, NeverReplacesInsideValues) {
  EXPECT_EQ(argv({"echo", "{}"}, {"{}{1}{#}{%}"}), (Words{"echo", "{}{1}{#}{%}"}));
}

TEST(Template, KeepsWordsOfAnArgumentVector) {
  EXPECT_EQ(argv({"cp", "{}", "out/{/}"}, {"a b/c d"}), (Words{"cp", "a b/c d", "out/c d"}));
  EXPECT_EQ(argv({"echo", "x y"}, {"a b"}), (Words{"echo", "x y", "a b"}));
  EXPECT_EQ(argv({"echo", "{2}."}, {"a"}), (Words{"echo", "."}));
  EXPECT_EQ(argv({"echo", "{2}"}, {"a"}), (Words{"echo", ""}));
}

TEST(Template, MakesAWordOfEachValueWhereAWordIsNothingElse) {
  EXPECT_EQ(argv({"echo", "{}"}, {"a b", "1"}), (Words{"echo", "a b", "1"}));
  EXPECT_EQ(argv({"echo", "{.}", "x{}"}, {"a.c", "b.c"}), (Words{"echo", "a", "b", "xa.c b.c"}));
  EXPECT_EQ(argv({"echo", "-n"}, {"a b", "1"}), (Words{"echo", "-n", "a b", "1"}));
}

TEST(Template, WithoutWordsTakesTheValuesAsShellText) {
  EXPECT_EQ(std::get<std::string>(fill({}, {"echo", "a b"})), "echo a b");
}

TEST(Template, LeavesTheSlotOpenUntilTheStart) {
  const Command text = fill({"run {%} {#}"}, {"a"}, 7);
  EXPECT_EQ(std::get<std::string>(text), std::string("run ") + kSlotMark + " 7");
  EXPECT_EQ(std::get<std::string>(policy::fill_slot(text, 12)), "run 12 7");
  EXPECT_EQ(policy::command_line(text), "run {%} 7");
  const Command words = fill({"run", "gpu{%}", "{}"}, {"{%}"});
  EXPECT_EQ(argv_of(policy::fill_slot(words, 3)), (Words{"run", "gpu3", "{%}"}));
}

TEST(Template, RefusesPerl) {
  const auto command = CommandTemplate::parse(Words{"echo {= s/a/b/ =}"});
  ASSERT_FALSE(command);
  EXPECT_THAT(command.error().message(),
              testing::HasSubstr("the command: found \"{= s/a/b/ =}\", expected one of {} {.}"));
}

TEST(Template, RefusesPerlThatTheShellHasCutIntoWords) {
  const auto command = CommandTemplate::parse(Words{"echo", "{=", "s/a/b/", "=}"});
  ASSERT_FALSE(command);
  EXPECT_THAT(command.error().message(), testing::HasSubstr("found \"{= s/a/b/ =}\""));
}

// A template without braces is the same text with the values behind it.
RC_GTEST_PROP(TemplateProperty, AnyTextIsATemplate, (const Words& words, const Words& values)) {
  const auto command = CommandTemplate::parse(words);
  if (!command) return;
  const Command filled = command->fill(values, 1);
  if (words.size() > 1 && std::none_of(words.begin(), words.end(), [](const std::string& word) {
        return word.find('{') != std::string::npos;
      })) {
    Words expected = words;
    expected.insert(expected.end(), values.begin(), values.end());
    RC_ASSERT(argv_of(filled) == expected);
  }
}

Command fill_called(const TemplateWords& called, const Words& words, const Words& values) {
  return CommandTemplate::parse(words, called)->fill(values, 1);
}

TEST(CommandTemplate, AnotherWordMayStandForTheValues) {
  const TemplateWords at{.all = "@@"};
  EXPECT_EQ(fill_called(at, {"echo", "@@", "{}", "x@@.@"}, {"1"}),
            Command(Words{"echo", "1", "{}", "x1.@"}));
  EXPECT_EQ(fill_called(at, {"echo @@ {.} @@@"}, {"a.b"}), Command("echo a.b a a.b@"));
  EXPECT_EQ(fill_called({.all = "{it}"}, {"echo {it} {}"}, {"a"}), Command("echo a {}"));
  EXPECT_EQ(fill_called(at, {"echo", "{}"}, {"1"}), Command(Words{"echo", "{}", "1"}))
      << "nothing is replaced, so the values are appended";
}

// As `parallel --header :` (20221122) fills them in.
TEST(CommandTemplate, ColumnsMayHaveNames) {
  const TemplateWords called{.names = {"a", "the second", "a/"}};
  EXPECT_EQ(fill_called(called, {"echo", "{a}", "{the second.}", "{a/}", "{1}"}, {"d/1", "x.c"}),
            Command(Words{"echo", "d/1", "x", "1", "d/1"}));
  EXPECT_EQ(fill_called(called, {"echo", "{b} {a", "{a}}"}, {"1"}),
            Command(Words{"echo", "{b} {a", "1}"}));
  EXPECT_EQ(fill_called({.names = {""}}, {"echo", "{}"}, {"1", "2"}),
            Command(Words{"echo", "1", "2"}));
}

}  // namespace
}  // namespace plimsoll::jobfile
