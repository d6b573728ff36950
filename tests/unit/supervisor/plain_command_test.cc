#include "supervisor/plain_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

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

class PlainCommandsTest : public ::testing::Test {
 protected:
  PlainCommandsTest() : here_(std::filesystem::current_path()) {
    request_.env = {"PATH=/bin", "PWD=" + here_};
  }
  ~PlainCommandsTest() override {
    if (pwd_) ::setenv("PWD", pwd_->c_str(), 1);
    if (!pwd_) ::unsetenv("PWD");
  }

  // Of a run that was started with this PWD.
  [[nodiscard]] std::vector<std::string> words(const std::string& pwd) {
    if (pwd.empty()) {
      ::unsetenv("PWD");
    } else {
      ::setenv("PWD", pwd.c_str(), 1);
    }
    return PlainCommands().words_of(command_, request_).all();
  }
  [[nodiscard]] std::vector<std::string> with(const std::vector<std::string>& variables) {
    request_.env = variables;
    return words(here_);
  }

  std::string here_;
  policy::Command command_ = "gzip a";
  guardian::SpawnRequest request_;

 private:
  std::optional<std::string> pwd_ =
      ::getenv("PWD") == nullptr ? std::nullopt : std::optional<std::string>(::getenv("PWD"));
};

TEST_F(PlainCommandsTest, AreForTheWorkingDirectoryByItsName) {
  EXPECT_THAT(words(here_), ElementsAre("gzip", "a"));
  for (const std::string& pwd : {std::string(), std::string("."), std::string("/no/such"),
                                 std::string("/proc"), here_ + "/.", here_ + "/../x"}) {
    request_.env = {"PATH=/bin", "PWD=" + pwd};
    EXPECT_THAT(words(pwd), IsEmpty()) << pwd;
  }
  EXPECT_THAT(with({"PATH=/bin"}), IsEmpty());
  EXPECT_THAT(with({"PATH=/bin", "PWD=/proc"}), IsEmpty()) << "a job's own";
  EXPECT_THAT(with({"PATH=/bin", "PWD=" + here_, "PWD=" + here_}), IsEmpty());
}

TEST_F(PlainCommandsTest, AreFoundByOnePath) {
  EXPECT_THAT(with({"PWD=" + here_}), IsEmpty());
  EXPECT_THAT(with({"PATH=/bin", "PWD=" + here_, "PATH=/usr/bin"}), IsEmpty());
}

TEST_F(PlainCommandsTest, AreNoFunctions) {
  const std::string path = "PATH=/bin", pwd = "PWD=" + here_;
  EXPECT_THAT(with({path, pwd, "BASH_FUNC_gzip%%=() { :; }"}), IsEmpty());
  EXPECT_THAT(with({path, pwd, "BASH_FUNC_module%%=() { :; }"}), ElementsAre("gzip", "a"));
}

TEST_F(PlainCommandsTest, AreNotForShellsThatBehaveOtherwise) {
  for (const char* variable : {"SHELLOPTS=xtrace", "IFS=x", "OPTIND=abc", "PPID=1"}) {
    EXPECT_THAT(with({"PATH=/bin", "PWD=" + here_, variable}), IsEmpty()) << variable;
  }
}

TEST_F(PlainCommandsTest, AreNotForOtherDirectoriesAndUsers) {
  request_.cwd = here_;
  EXPECT_THAT(words(here_), IsEmpty());
  request_.cwd.clear();
  request_.identity = guardian::Identity{.uid = ::geteuid(), .gid = 1, .groups = {}};
  EXPECT_THAT(words(here_), IsEmpty());
}

TEST_F(PlainCommandsTest, AreNoTextsThatNeedAShellNorWords) {
  command_ = "gzip a; rm b";
  EXPECT_THAT(words(here_), IsEmpty());
  command_ = Words{"gzip", "a"};
  EXPECT_THAT(words(here_), IsEmpty());
}

}  // namespace
}  // namespace plimsoll::supervisor
