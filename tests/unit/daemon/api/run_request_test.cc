#include "daemon/api/run_request.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/loop/loop.h"
#include "plimsoll/v1/jobs.pb.h"

namespace plimsoll::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

v1::JobSpec message(const std::string& text) {
  v1::JobSpec job;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &job)) << text;
  return job;
}

Result<JobRequest> read(const v1::JobSpec& job) {
  v1::RunRequest request;
  *request.mutable_job() = job;
  return read_run_request(request.SerializeAsString());
}

// Two texts of 16 bytes after either of which std::hash is the same, whatever came before: it is
// h = (h ^ mixed(word)) * m for each word of 8 bytes, so that the highest bit of one word's mixed()
// is taken back by that of the next. Without NUL and "=".
std::array<std::string, 2> colliding_pairs() {
  constexpr std::uint64_t m = 0xc6a4a7935bd1e995, kHighest = std::uint64_t{1} << 63U;
  std::uint64_t inverse = 1;
  for (int i = 0; i < 6; ++i) inverse *= 2 - m * inverse;  // modulo 2^64, bits doubling
  const auto word_of = [&](std::uint64_t mixed) {
    std::uint64_t word = mixed * inverse;
    word ^= word >> 47U;
    word *= inverse;
    std::string bytes(sizeof word, '\0');
    std::memcpy(bytes.data(), &word, sizeof word);
    return bytes;
  };
  const auto is_name = [](const std::string& text) {
    return text.find('\0') == std::string::npos && text.find('=') == std::string::npos &&
           std::ranges::all_of(text, [](char byte) { return byte > 0; });  // UTF-8
  };
  std::vector<std::array<std::string, 2>> words;
  for (std::uint64_t mixed = 1; words.size() < 2; ++mixed) {
    const std::uint64_t spread = mixed * 0x9e3779b97f4a7c15;
    const std::string one = word_of(spread), other = word_of(spread ^ kHighest);
    if (is_name(one) && is_name(other)) words.push_back({one, other});
  }
  return {words[0][0] + words[1][0], words[0][1] + words[1][1]};
}

TEST(ReadRunRequest, TakesEveryField) {
  const auto order = read(message(R"(
      name: "n" argv: "a" argv: "b c" cwd: "/tmp" env { key: "X" value: "1=2" } class: "k"
      memory_hint_bytes: 1 cpu_hint_cores: 2 memory_max_bytes: 3 cpus_max: 0.5 pids_max: 4
      priority: -5 timeout { seconds: 6 nanos: 7 } restartable: true weight: 300
      disk_hint_bytes: 8)"));
  ASSERT_TRUE(order) << order.error().message();
  const policy::JobSpec& spec = order->spec;
  EXPECT_EQ(spec.name, "n");
  EXPECT_THAT(std::get<Words>(spec.command), ElementsAre("a", "b c"));
  EXPECT_EQ(spec.cwd, "/tmp");
  EXPECT_THAT(order->environment, ElementsAre("X=1=2"));
  EXPECT_EQ(spec.job_class, "k");
  EXPECT_EQ(spec.memory_hint, Bytes{1});
  EXPECT_EQ(spec.cpu_hint, 2);
  EXPECT_EQ(spec.disk_hint, Bytes{8});
  EXPECT_EQ(spec.limits.memory_max, Bytes{3});
  EXPECT_EQ(spec.limits.cpus, 0.5);
  EXPECT_EQ(spec.limits.pids_max, 4u);
  EXPECT_EQ(spec.priority, -5);
  EXPECT_EQ(spec.timeout, 6s + 7ns);
  EXPECT_TRUE(spec.restartable);
  EXPECT_EQ(spec.limits.cpu_weight, 300u);
}

TEST(ReadRunRequest, CountsWhatIsKept) {
  v1::JobSpec job;
  job.add_argv("a");
  const std::size_t least = kept_bytes(*read(job));
  for (int i = 0; i < 1000; ++i) job.add_argv("");
  (*job.mutable_env())["X"] = "";
  EXPECT_EQ(kept_bytes(*read(job)) - least, 1001 * Words::kAround + 2);
}

TEST(ReadRunRequest, RefusesMoreWordsThanCanBeExecuted) {
  v1::JobSpec job;
  for (int i = 0; i < 250'001; ++i) job.add_argv("a");
  const auto order = read(job);
  ASSERT_FALSE(order);
  EXPECT_THAT(order.error().what, HasSubstr("job.argv: found more than 250000 words"));
}

TEST(ReadRunRequest, RefusesMoreVariablesThanAnyProcessHas) {
  v1::JobSpec job;
  job.add_argv("a");
  for (int i = 0; i < 10'000; ++i) (*job.mutable_env())[std::to_string(i)] = "";
  EXPECT_TRUE(read(job));
  (*job.mutable_env())["X"] = "";
  const auto order = read(job);
  ASSERT_FALSE(order);
  EXPECT_THAT(order.error().what, HasSubstr("job.env: found more than 10000 variables"));
}

// Beside words and variables: of what it does not know protobuf would make thirty times as much.
TEST(ReadRunRequest, RefusesMoreThanItsFieldsCanHave) {
  v1::JobSpec job = message(R"(argv: "a" cwd: "/tmp")");
  constexpr int kNobodyKnows = 15;
  auto& unknown = *job.GetReflection()->MutableUnknownFields(&job);
  unknown.AddLengthDelimited(kNobodyKnows, std::string(60'000, 'x'));
  EXPECT_TRUE(read(job));
  unknown.AddLengthDelimited(kNobodyKnows, std::string(10'000, 'x'));
  const auto order = read(job);
  ASSERT_FALSE(order);
  EXPECT_THAT(order.error().what, HasSubstr("found more than 64 KiB beside words and variables"));
}

// Tags and sizes have 32 bits: of longer numbers a stream of protobuf's takes the lowest part.
TEST(ReadRunRequest, ReadsNumbersAsProtobufDoes) {
  const auto request = [](const std::string& job) {
    return "\x0a" + std::string(1, static_cast<char>(job.size())) + job;
  };
  const std::string word =
      "\x12\x01"
      "a";
  EXPECT_TRUE(read_run_request(request(word)));
  const std::string long_tag =
      "\x92\x80\x80\x80\x80\x01\x01"
      "a";
  EXPECT_FALSE(read_run_request(request(word + long_tag)));
  const std::string long_size =
      "\x12\x81\x80\x80\x80\x80\x01"
      "a";
  EXPECT_FALSE(read_run_request(request(word + long_size)));
}

// A client can choose names that the standard library's hashes take for one another.
TEST(ReadRunRequest, NamesThatAreChosenTakeNoLonger) {
  constexpr int kBits = 13, kNames = 10'000;
  // Two pairs of words of 64 bits that change a hash in the same way; no byte is NUL or "=".
  const auto pairs = colliding_pairs();
  const auto time_of = [&](auto name) {
    v1::JobSpec job;
    job.add_argv("a");
    for (int i = 0; i < kNames; ++i) (*job.mutable_env())[name(i)] = "";
    const Duration before = loop::cpu_time();
    EXPECT_TRUE(read(job));
    return loop::cpu_time() - before;
  };
  const auto chosen = [&](int number) {
    std::string name;
    for (int bit = 0; bit < kBits + 1; ++bit) name += pairs[number >> bit & 1];
    return name;
  };
  const auto plain = [&](int number) {
    std::string name = std::to_string(number);
    return name + std::string(chosen(0).size() - name.size(), 'x');
  };
  EXPECT_EQ(std::hash<std::string_view>()(chosen(1)), std::hash<std::string_view>()(chosen(2)));
  EXPECT_LT(time_of(chosen), 10 * time_of(plain));
}

TEST(ReadRunRequest, RefusesWhatNoKernelTakes) {
  const std::string longest(supervisor::kJobWordBytesMax, 'x');
  v1::JobSpec job;
  job.add_argv(longest);
  job.set_cwd("/" + std::string(supervisor::kJobPathMax - 1, 'd'));
  EXPECT_TRUE(read(job));
  job.add_argv(longest + "x");
  EXPECT_THAT(read(job).error().what,
              HasSubstr("job.argv: found a word of 131072 bytes, expected at most 131071"));
  job.mutable_argv()->RemoveLast();
  (*job.mutable_env())["A"] = longest;
  EXPECT_THAT(read(job).error().what, HasSubstr("job.env: found a variable of 131073 bytes"));
  job.clear_env();
  job.set_cwd("/" + std::string(supervisor::kJobPathMax, 'd'));
  EXPECT_THAT(read(job).error().what, HasSubstr("job.cwd: found a path of 4096 bytes"));
  job.set_cwd(std::string(4000, 'd'));
  EXPECT_FALSE(read(job));
}

TEST(ReadRunRequest, WhatIsNotSaidIsAbsent) {
  const auto order = read(message(R"(argv: "true")"));
  ASSERT_TRUE(order);
  EXPECT_EQ(order->spec.cwd, "/");
  EXPECT_EQ(order->spec.limits, Limits{});
  EXPECT_FALSE(order->spec.memory_hint);
  EXPECT_FALSE(order->spec.cpu_hint);
  EXPECT_FALSE(order->spec.timeout);
  EXPECT_FALSE(order->spec.restartable);
}

TEST(ReadRunRequest, RefusesWhatMakesNoSense) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "job.argv: found no command, expected one"},
      {"argv: ''", "job.argv: found no command"},
      {"argv: 'a' weight: 10001", "job.weight: found 10001, expected 1 to 10000"},
      {"argv: 'a\\0b'", "job.argv: found a NUL byte"},
      {"argv: 'a' cwd: 'tmp'", "job.cwd: found \"tmp\", expected an absolute path"},
      {"argv: 'a' env { key: 'A=B' value: '' }", "job.env: found \"A=B\""},
      {"argv: 'a' env { key: '' value: '' }", "job.env: found \"\""},
      {"argv: 'a' priority: 1001", "job.priority: found 1001"},
      {"argv: 'a' priority: -2147483648", "job.priority: found -2147483648"},
      {"argv: 'a' cpus_max: -1", "job.cpus_max: found -1"},
      {"argv: 'a' cpus_max: 0.0009", "job.cpus_max: found 0.000900, expected 0, or 0.001"},
      {"argv: 'a' cpus_max: inf", "job.cpus_max: found inf"},
      {"argv: 'a' cpu_hint_cores: nan", "job.cpu_hint_cores: found nan"},
      {"argv: 'a' timeout { }", "job.timeout: found 0 s"},
      {"argv: 'a' timeout { seconds: -1 }", "job.timeout: found -1 s"},
      {"argv: 'a' timeout { nanos: 1000000000 }", "job.timeout: found 0 s"},
      {"argv: 'a' name: '" + std::string(257, 'x') + "'", "job.name: found a name or class"},
  };
  for (const auto& [text, what] : cases) {
    const auto order = read(message(text));
    ASSERT_FALSE(order) << text;
    EXPECT_EQ(order.error().code, std::errc::invalid_argument) << text;
    EXPECT_THAT(order.error().what, HasSubstr(what)) << text;
  }
}

TEST(ReadRunRequest, OfAVariableThatIsNamedTwiceTheLastValueCounts) {
  const std::string entry = "\x22\x06\x0a\x01X\x12\x01";
  const std::string job =
      "\x12\x01"
      "a" +
      entry + "1" + entry + "2";
  const auto order = read_run_request("\x0a" + std::string(1, static_cast<char>(job.size())) + job);
  ASSERT_TRUE(order) << order.error().message();
  EXPECT_THAT(order->environment, ElementsAre("X=2"));
}

TEST(ReadRunRequest, PartsOfAJobAreJoined) {
  v1::RunRequest first, second;
  first.mutable_job()->add_argv("a");
  first.mutable_job()->set_name("first");
  second.mutable_job()->add_argv("b");
  second.mutable_job()->set_name("second");
  const auto order = read_run_request(first.SerializeAsString() + second.SerializeAsString());
  ASSERT_TRUE(order) << order.error().message();
  EXPECT_THAT(std::get<Words>(order->spec.command), ElementsAre("a", "b"));
  EXPECT_EQ(order->spec.name, "second");
}

// A client that is newer than this daemon may say more.
TEST(ReadRunRequest, FieldsThatItDoesNotKnowArePassed) {
  const std::string unknown =
      "\xf8\x01\x2a"
      "\xfa\x01\x03"
      "abc"
      "\xfd\x01"
      "abcd"
      "\xf9\x01"
      "abcdefgh";
  const std::string job = unknown +
                          "\x12\x01"
                          "a" +
                          unknown;
  const auto order =
      read_run_request(unknown + "\x0a" + std::string(1, static_cast<char>(job.size())) + job);
  ASSERT_TRUE(order) << order.error().message();
  EXPECT_THAT(std::get<Words>(order->spec.command), ElementsAre("a"));
}

TEST(ReadRunRequest, WordsAreAnyBytes) {
  const auto order = read_run_request("\x0a\x04\x12\x02\xff\xfe");
  ASSERT_TRUE(order) << order.error().message();
  EXPECT_THAT(std::get<Words>(order->spec.command), ElementsAre("\xff\xfe"));
}

TEST(ReadRunRequest, WhatIsNoMessageIsRefused) {
  v1::RunRequest request;
  request.mutable_job()->add_argv("a word");
  request.mutable_job()->set_cwd("/tmp");
  const std::string whole = request.SerializeAsString();
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const auto order = read_run_request(whole.substr(0, size));
    ASSERT_FALSE(order) << size;
    EXPECT_THAT(order.error().what, HasSubstr("expected a plimsoll.v1.RunRequest")) << size;
  }
  const std::vector<std::string> none = {
      "\x0a\x04\x12\x05"
      "ab",                                // a word that is longer than its job
      "\x0a\x02\x13\x14",                  // a group
      std::string("\x0a\x02\x02\x00", 4),  // a field without a number
      "\x0a\x06\x12\x01"
      "a\x0a\x01\xff",  // a name that is not UTF-8
      "\x0a\x07\x12\x01"
      "a\x22\x02\x0a\x05"};  // a variable that is longer than its entry
  for (const std::string& bytes : none) {
    const auto order = read_run_request(bytes);
    ASSERT_FALSE(order) << bytes;
    EXPECT_THAT(order.error().what, HasSubstr("expected a plimsoll.v1.RunRequest"));
  }
}

}  // namespace
}  // namespace plimsoll::daemon
