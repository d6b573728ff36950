#include "supervisor/plain_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "policy/job/job.h"
#include "supervisor/reporting.h"

namespace plimsoll::supervisor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> words_of(std::string_view text) {
  const auto words = plain_words(text);
  return words ? words->all() : std::vector<std::string>();
}

TEST(PlainCommand, IsAProgramWithItsArguments) {
  EXPECT_THAT(words_of("gzip"), ElementsAre("gzip"));
  EXPECT_THAT(words_of("/usr/bin/gcc -O2 -DX=1 -c dir/a.c -o a_1.o"),
              ElementsAre("/usr/bin/gcc", "-O2", "-DX=1", "-c", "dir/a.c", "-o", "a_1.o"));
  EXPECT_THAT(words_of(" \tdd  if=/dev/zero\tof=a,b count=3 "),
              ElementsAre("dd", "if=/dev/zero", "of=a,b", "count=3"));
  EXPECT_THAT(words_of("./true x@y:z%+"), ElementsAre("./true", "x@y:z%+"));
}

TEST(PlainCommand, IsNothingThatAShellMayTakeAsMore) {
  for (const char* text :
       {"a;b",   "a|b",   "a&",   "a >b", "a <b",  "a $b",    "a `b`",      "a \"b\"",
        "a 'b'", "a \\b", "a *",  "a ?",  "a [b]", "a {b,c}", "a ~",        "a ~/b",
        "a #b",  "a !b",  "a ^b", "(a)",  "a\nb",  "a\rb",    "a \xc3\xa4", "A=1 b",
        "A=1",   "a=b/c", "",     "  ",   "-x",    "+x",      "a \x01"}) {
    EXPECT_FALSE(plain_words(text)) << text;
  }
}

TEST(PlainCommand, IsNothingThatAShellDoesItself) {
  for (const char* text : {"cd /", "exit 3", "echo a", "test 1 = 2", ". file", ":", "time ls", "if",
                           "exec ls", "kill 1", "umask 022", "while", "true", "printf x"}) {
    EXPECT_FALSE(plain_words(text)) << text;
  }
  EXPECT_THAT(words_of("/bin/echo a"), ElementsAre("/bin/echo", "a"));
  EXPECT_THAT(words_of("ls echo"), ElementsAre("ls", "echo"));
}

TEST(PlainCommand, IsNoLongerThanItsLimit) {
  const std::string longest = "a " + std::string(kPlainMax - 2, 'b');
  EXPECT_TRUE(plain_words(longest));
  EXPECT_FALSE(plain_words(longest + "b"));
}

TEST(PlainEnvironment, NamesTheWorkingDirectory) {
  const std::string here = std::filesystem::current_path();
  const std::string path = "PATH=/bin";
  EXPECT_TRUE(is_plain(Words{path, "PWD=" + here}));
  EXPECT_TRUE(is_plain(Words{path, "PWD=" + here + "/."}));
  EXPECT_FALSE(is_plain(Words{path}));
  EXPECT_FALSE(is_plain(Words{"PWD=" + here}));
  EXPECT_FALSE(is_plain(Words{path, "PWD=/proc"}));
  EXPECT_FALSE(is_plain(Words{path, "PWD=."}));
  EXPECT_FALSE(is_plain(Words{path, "PWD="}));
  EXPECT_FALSE(is_plain(Words{path, "PWD=/no/such"}));
}

TEST(PlainEnvironment, HasNoFunctions) {
  const std::string here = std::filesystem::current_path();
  EXPECT_FALSE(is_plain(Words{"PATH=/bin", "PWD=" + here, "BASH_FUNC_gzip%%=() { :; }"}));
}

class PlainRequest : public ::testing::Test {
 protected:
  PlainRequest() {
    job_.env = {{"PATH", "/bin"}, {"PWD", std::filesystem::current_path()}};
    job_.command = "gzip a";
  }
  [[nodiscard]] std::vector<std::string> plain(const std::optional<Account>& user = {}) const {
    return request_for(job_, "job-1", user).spawn.plain.all();
  }
  policy::JobSpec job_;
};

TEST_F(PlainRequest, IsTriedBeforeTheShell) {
  EXPECT_THAT(plain(), ElementsAre("gzip", "a"));
  EXPECT_THAT(request_for(job_, "job-1", std::nullopt).spawn.argv.all(),
              ElementsAre("/bin/sh", "-c", "gzip a"));
}

TEST_F(PlainRequest, IsNotMadeWhereTheShellWouldChangeTheEnvironment) {
  job_.cwd = "/";
  EXPECT_THAT(plain(), IsEmpty());
  job_.cwd.clear();
  job_.env = {{"PATH", "/bin"}, {"PWD", "/proc"}};
  EXPECT_THAT(plain(), IsEmpty());
}

TEST_F(PlainRequest, IsNotMadeForAnotherUser) {
  Account user;
  user.identity = guardian::Identity{.uid = ::geteuid() + 1, .gid = 1, .groups = {}};
  EXPECT_THAT(plain(user), IsEmpty());
}

TEST_F(PlainRequest, IsNotMadeOfWords) {
  job_.command = Words{"gzip", "a"};
  EXPECT_THAT(plain(), IsEmpty());
}

}  // namespace
}  // namespace plimsoll::supervisor
