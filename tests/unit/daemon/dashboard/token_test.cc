#include "daemon/dashboard/token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace plimsoll::dashboard {
namespace {

using ::testing::MatchesRegex;

struct TokenTest : ::testing::Test {
  void SetUp() override { ASSERT_NE(::mkdtemp(directory.data()), nullptr); }
  void TearDown() override { std::filesystem::remove_all(directory); }

  void write(const std::string& text, mode_t mode) const {
    std::ofstream(file()) << text;
    ::chmod(file().c_str(), mode);
  }
  [[nodiscard]] std::string file() const { return directory + "/dashboard"; }

  std::string directory = ::testing::TempDir() + "plimsoll-token-XXXXXX";
  const std::string known = "0123456789abcdef0123456789abcdef";
};

TEST_F(TokenTest, IsRandom) {
  const auto one = new_token(), other = new_token();
  ASSERT_TRUE(one && other);
  EXPECT_THAT(*one, MatchesRegex("[0-9a-f]{32}"));
  EXPECT_NE(*one, *other);
}

TEST_F(TokenTest, StaysTheSame) {
  write(address_of({.host = "::1", .port = 80}, known) + "\n", 0600);
  EXPECT_EQ(token_of(file(), Port::privileged), known);
}

// Who was there meanwhile has been told it.
TEST_F(TokenTest, IsNewWhereThePortIsAnybodys) {
  write(address_of({.host = "::1", .port = 9756}, known) + "\n", 0600);
  const auto token = token_of(file(), Port::anybodys);
  ASSERT_TRUE(token);
  EXPECT_THAT(*token, MatchesRegex("[0-9a-f]{32}"));
  EXPECT_NE(*token, known);
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(TokenTest, IsNewWhereThereIsNone) {
  const auto token = token_of(file(), Port::privileged);
  ASSERT_TRUE(token);
  EXPECT_THAT(*token, MatchesRegex("[0-9a-f]{32}"));
  write("http://localhost/short/\n", 0600);
  EXPECT_NE(token_of(file(), Port::privileged), "short");
}

// Somebody may have read it.
TEST_F(TokenTest, IsNewWhereOthersMayReadIt) {
  write(address_of({.host = "localhost", .port = 80}, known), 0640);
  EXPECT_NE(token_of(file(), Port::privileged), known);
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(TokenTest, IsNotTakenFromAnotherFile) {
  write(address_of({.host = "localhost", .port = 80}, known), 0600);
  std::filesystem::rename(file(), directory + "/other");
  std::filesystem::create_symlink(directory + "/other", file());
  EXPECT_NE(token_of(file(), Port::privileged), known);
  EXPECT_TRUE(std::filesystem::exists(directory + "/other"));
}

TEST_F(TokenTest, IsComparedAsAWhole) {
  EXPECT_TRUE(is_token(known, known));
  EXPECT_FALSE(is_token("", known));
  EXPECT_FALSE(is_token(known.substr(1), known));
  EXPECT_FALSE(is_token("1" + known.substr(1), known));
  EXPECT_FALSE(is_token(known.substr(0, 31) + "0", known));
}

TEST_F(TokenTest, IsPartOfTheAddress) {
  EXPECT_EQ(address_of({.host = "127.0.0.1", .port = 9756}, "t"), "http://127.0.0.1:9756/t/");
  EXPECT_EQ(address_of({.host = "::1", .port = 9756}, "t"), "http://[::1]:9756/t/");
}

}  // namespace
}  // namespace plimsoll::dashboard
