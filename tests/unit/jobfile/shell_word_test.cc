#include "jobfile/template.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdio>
#include <memory>
#include <vector>

namespace plimsoll::jobfile {
namespace {

std::string quoted(std::string_view value) {
  std::string text;
  append_shell_word(text, value);
  return text;
}

// What /bin/sh makes of shell text: the bytes that it prints.
std::string printed_by_sh(const std::string& text) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(text.c_str(), "r"), &::pclose);
  std::string output;
  for (int c = std::fgetc(pipe.get()); c != EOF; c = std::fgetc(pipe.get())) {
    output += static_cast<char>(c);
  }
  return output;
}

TEST(ShellWord, LeavesPlainTextAlone) {
  EXPECT_EQ(quoted("a/b-c_d.e:f@g%h,i+j"), "a/b-c_d.e:f@g%h,i+j");
  EXPECT_EQ(quoted("é"), "é");
}

TEST(ShellWord, QuotesTheRest) {
  EXPECT_EQ(quoted(""), "''");
  EXPECT_EQ(quoted("~ #=*"), "\\~\\ \\#\\=\\*");
  EXPECT_EQ(quoted("a\n"), "a'\n'");
}

// One shell for all values: each is printed with an end of its own.
TEST(ShellWord, IsReadBackByTheShell) {
  std::vector<std::string> values = {"",      "a b", "it's",  "\"$HOME\"", "`id`",    "$(id)",
                                     "\\",    "\\n", "*?[a]", "!!",        "a;b|c&d", "(<>)",
                                     "{a,b}", "~",   "#",     "=",         "\n",      "a\n\nb",
                                     "\t",    "\r",  "-n",    "é",         "%s"};
  for (int c = 1; c < 256; ++c) values.push_back(std::string("x") + static_cast<char>(c) + "y");
  std::string text = "printf '%s\\n.\\n'";
  std::string expected;
  for (const std::string& value : values) {
    text += ' ';
    append_shell_word(text, value);
    expected += value + "\n.\n";
  }
  EXPECT_EQ(printed_by_sh(text), expected);
}

RC_GTEST_PROP(ShellWordProperty, IsReadBackByTheShell, ()) {
  const auto values = *rc::gen::container<std::vector<std::string>>(
      rc::gen::container<std::string>(rc::gen::nonZero<char>()));
  std::string text = "printf '%s\\n.\\n' start";
  std::string expected = "start\n.\n";
  for (const std::string& value : values) {
    text += ' ';
    append_shell_word(text, value);
    expected += value + "\n.\n";
  }
  RC_ASSERT(printed_by_sh(text) == expected);
}

// Between double quotes of the template a value may come out with backslashes, but runs nothing.
TEST(ShellWord, RunsNothingInsideDoubleQuotes) {
  for (const char* value : {"$(echo run)", "`echo run`", "\"; echo run; \"", "${x-run}"}) {
    const std::string output = printed_by_sh("printf %s \"" + quoted(value) + "\"");
    EXPECT_NE(output, "run");
    EXPECT_GE(output.size(), std::string_view(value).size());
  }
}

}  // namespace
}  // namespace plimsoll::jobfile
