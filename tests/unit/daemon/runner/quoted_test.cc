#include "daemon/runner/quoted.h"

#include <gtest/gtest.h>

namespace plimsoll::daemon {
namespace {

using std::string_literals::operator""s;

TEST(GoQuoted, AsGoQuotes) {
  const std::pair<std::string, const char*> cases[] = {
      {"", R"("")"},
      {"a b/c", R"("a b/c")"},
      {"a\0b"s, R"("a\x00b")"},
      {"\a\b\f\n\r\t\v", R"("\a\b\f\n\r\t\v")"},
      {"\x1b[0m\x7f", R"("\x1b[0m\x7f")"},
      {R"(say "\")", R"("say \"\\\"")"},
      {"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\""},
      {"\xC2\x85\xC2\xA0\xE2\x80\xAE", R"("\u0085\u00a0\u202e")"},
      {"\xF3\xA0\x80\x81", R"("\U000e0001")"},
      // No UTF-8: alone, cut off, overlong, a surrogate, beyond Unicode.
      {"\xFF", R"("\xff")"},
      {"a\xE2\x82", R"("a\xe2\x82")"},
      {"\xC0\x80", R"("\xc0\x80")"},
      {"\xE0\x80\x80", R"("\xe0\x80\x80")"},
      {"\xED\xA0\x80", R"("\xed\xa0\x80")"},
      {"\xF4\x90\x80\x80", R"("\xf4\x90\x80\x80")"},
      {"\xC3(", R"("\xc3(")"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(go_quoted(text), expected) << text;
}

}  // namespace
}  // namespace plimsoll::daemon
