#include "daemon/dashboard/secrets.h"

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

constexpr mode_t kOurs = 0600;

mode_t mode_of(const std::string& path) {
  struct stat about{};
  ::stat(path.c_str(), &about);
  return about.st_mode & 0777;
}

void write(const std::string& path, const std::string& text, mode_t mode) {
  std::ofstream(path) << text;
  ::chmod(path.c_str(), mode);
}

struct SecretsTest : ::testing::Test {
  void SetUp() override { ASSERT_NE(::mkdtemp(directory.data()), nullptr); }
  void TearDown() override { std::filesystem::remove_all(directory); }

  [[nodiscard]] Files files() const {
    return {.key = directory + "/dashboard.key", .address = directory + "/dashboard"};
  }
  [[nodiscard]] std::string key() const {
    auto key = kept_key(files());
    return key ? *key : key.error().message();
  }

  std::string directory = ::testing::TempDir() + "plimsoll-secrets-XXXXXX";
};

TEST_F(SecretsTest, AKeyIsKept) {
  const std::string first = key();
  EXPECT_THAT(first, MatchesRegex("[0-9a-f]{64}"));
  EXPECT_EQ(mode_of(files().key), kOurs);
  write(files().address, "http://127.0.0.1:9756/0123/\n", kOurs);
  EXPECT_EQ(key(), first);
}

TEST_F(SecretsTest, AKeyIsRandom) {
  const std::string first = key();
  std::filesystem::remove(files().key);
  EXPECT_NE(key(), first);
}

// Somebody may have read it, or the address, by which it can be asked for.
TEST_F(SecretsTest, AKeyIsNewWhereOthersMayHaveHeardIt) {
  std::string last = key();
  for (const std::string& file : {files().key, files().address}) {
    write(file, "http://127.0.0.1:9756/0123/\n", kOurs);
    ::chmod(file.c_str(), 0640);
    const std::string next = key();
    EXPECT_THAT(next, MatchesRegex("[0-9a-f]{64}"));
    EXPECT_NE(next, last) << file;
    EXPECT_FALSE(std::filesystem::exists(files().address));
    EXPECT_EQ(mode_of(files().key), kOurs);
    last = next;
  }
}

TEST_F(SecretsTest, AKeyIsNotTakenFromAnotherFile) {
  const std::string first = key();
  std::filesystem::rename(files().key, directory + "/other");
  std::filesystem::create_symlink(directory + "/other", files().key);
  EXPECT_NE(key(), first);
  EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(files().key)));
  EXPECT_TRUE(std::filesystem::exists(directory + "/other"));
}

TEST_F(SecretsTest, WhatIsNoKeyIsNotUsed) {
  write(files().key, std::string(63, 'a') + "\n", kOurs);
  EXPECT_THAT(key(), MatchesRegex("[0-9a-f]{64}"));
}

constexpr const char* kPlace = "127.0.0.1:9756";

Secrets secrets(std::string_view place, Port port) {
  auto secrets = secrets_of(std::string(64, '5'), place, port);
  return secrets ? *secrets : Secrets();
}

TEST(Secrets, AnAddressThatOthersMayHaveHeardIsAnotherAtEachStart) {
  const Secrets one = secrets(kPlace, Port::anybodys), other = secrets(kPlace, Port::anybodys);
  EXPECT_THAT(one.token, MatchesRegex("[0-9a-f]{32}"));
  EXPECT_NE(one.token, other.token);
  EXPECT_EQ(one.key, other.key);
}

TEST(Secrets, AnAddressOfRootAloneStaysTheSame) {
  EXPECT_EQ(secrets("127.0.0.1:975", Port::privileged).token,
            secrets("127.0.0.1:975", Port::privileged).token);
}

// A page that asks at the old place hears of the key of the new one nothing that it believes.
TEST(Secrets, EachPlaceHasAKeyOfItsOwn) {
  EXPECT_NE(secrets(kPlace, Port::anybodys).key, secrets("127.0.0.1:9757", Port::anybodys).key);
  EXPECT_NE(secrets(kPlace, Port::anybodys).key, secrets("127.0.0.2:9756", Port::anybodys).key);
}

// As the page reckons it, in page/src/identity.ts; by `openssl dgst -sha256 -hmac KEY`.
TEST(Secrets, ProofAndTokenAreCodesOfTheSalt) {
  const Secrets known = secrets("127.0.0.1:975", Port::privileged);
  EXPECT_EQ(known.key, "d903c360a62a20229668d42144a3b8924d73ea116a82d41ea41199d06625d429");
  EXPECT_EQ(known.salt, std::string(32, '0'));
  EXPECT_EQ(known.token, "3ba7258dfe5c6561bf69c8466abd7b86");
  EXPECT_EQ(proof_of(known, std::string(32, 'e')),
            "39bb4ba7258e68be5a8f5b804d8b4b2f456bfa6401a2a05e40c91d1482f4c2a5");
  EXPECT_NE(proof_of(known, std::string(32, 'e')), proof_of(known, std::string(32, 'f')));
}

TEST(Secrets, ANonceIsWhole) {
  EXPECT_TRUE(is_nonce(std::string(32, 'a')));
  EXPECT_FALSE(is_nonce(""));
  EXPECT_FALSE(is_nonce(std::string(33, 'a')));
  EXPECT_FALSE(is_nonce(std::string(32, 'g')));
}

TEST(Secrets, ATokenIsComparedAsAWhole) {
  const std::string known = "0123456789abcdef0123456789abcdef";
  EXPECT_TRUE(is_token(known, known));
  EXPECT_FALSE(is_token("", known));
  EXPECT_FALSE(is_token(known.substr(1), known));
  EXPECT_FALSE(is_token("1" + known.substr(1), known));
  EXPECT_FALSE(is_token(known.substr(0, 31) + "0", known));
}

TEST(Secrets, TheTokenIsPartOfTheAddress) {
  EXPECT_EQ(address_of({.host = "127.0.0.1", .port = 9756}, "t"), "http://127.0.0.1:9756/t/");
  EXPECT_EQ(address_of({.host = "::1", .port = 9756}, "t"), "http://[::1]:9756/t/");
}

}  // namespace
}  // namespace plimsoll::dashboard
