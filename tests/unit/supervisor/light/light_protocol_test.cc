#include "supervisor/light/light_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::supervisor {
namespace {

using ::testing::HasSubstr;
using namespace literals;
using namespace std::chrono_literals;
using namespace std::string_literals;

TEST(LightProtocolTest, WhatIsSaidIsUnderstood) {
  const std::vector<LightRequest> requests = {
      LightEnter{.job_class = "link",
                 .cwd = "/src",
                 .words = {"gcc", "-o", "a b", ""},
                 .memory_hint = 6_GiB,
                 .restartable = true},
      LightEnter{.words = {"cc"}}, LightAgain{},
      LightOver{.by_signal = true, .code = 9, .peak = 123_MiB, .cpu = 1500ms}};
  for (const LightRequest& request : requests) {
    const auto heard = parse_light_request(to_frame(request));
    ASSERT_TRUE(heard) << heard.error().message();
    EXPECT_EQ(*heard, request);
  }
  const std::vector<LightNews> all = {
      LightHeld{.cause = "memory", .reason = "it needs 3 GiB"}, LightAdmitted{.attempt = 70'000},
      LightCancelled{.cause = "evicted", .reason = "8 MiB too much", .again = true},
      LightRefused{.reason = "too many", .busy = true}};
  for (const LightNews& news : all) {
    const auto heard = parse_light_news(to_frame(news));
    ASSERT_TRUE(heard) << heard.error().message();
    EXPECT_EQ(*heard, news);
  }
}

// As docs/formats/light.md has it: numbers with their lowest byte first.
TEST(LightProtocolTest, TheBytesAreThoseOfTheFormat) {
  EXPECT_EQ(to_frame(LightRequest(LightAgain{})), "\x01\x02"s);
  EXPECT_EQ(to_frame(LightNews(LightAdmitted{.attempt = 0x0102})), "\x01\x41\x02\x01\x00\x00"s);
  EXPECT_EQ(to_frame(LightRequest(LightOver{.code = 3, .peak = Bytes{1}, .cpu = 2ns})),
            "\x01\x03\x00\x03\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0"s);
  EXPECT_EQ(to_frame(LightRequest(LightEnter{.job_class = "c", .words = {"cc"}})),
            "\x01\x01\x00\x00\0\0\0\0\0\0\0\0\x01\x00"
            "c\x00\x00\x01\x00\x02\x00"
            "cc"s);
}

TEST(LightProtocolTest, WhatIsLongIsCut) {
  LightEnter enter{.cwd = "/" + std::string(5000, 'd')};
  for (int i = 0; i < 1000; ++i) enter.words.emplace_back(5000, 'w');
  const std::string frame = to_frame(LightRequest(enter));
  EXPECT_LE(frame.size(), kLightFrameMax);
  const auto heard = parse_light_request(frame);
  ASSERT_TRUE(heard);
  const auto& seen = std::get<LightEnter>(*heard);
  EXPECT_EQ(seen.cwd, "");  // a part of it would be another directory
  EXPECT_EQ(seen.words.size(), kLightWordBytesMax / kLightTextMax);
  EXPECT_EQ(seen.words.front(), std::string(kLightTextMax, 'w'));
  enter.words.assign(1000, "w");
  const auto many = parse_light_request(to_frame(LightRequest(enter)));
  ASSERT_TRUE(many);
  EXPECT_EQ(std::get<LightEnter>(*many).words.size(), kLightWordsMax);
}

TEST(LightProtocolTest, WhatIsNotAFrameIsRefused) {
  struct Case {
    const char* what;
    std::string frame, error;
  };
  const std::string enter = to_frame(LightRequest(LightEnter{.words = {"cc", "-c"}}));
  const Case cases[] = {
      {"nothing", "", "version 0"},
      {"a version", "\x02\x01"s, "version 2"},
      {"no kind", "\x01"s, "kind 0"},
      {"a kind", "\x01\x07"s, "kind 7"},
      {"of the other side", to_frame(LightNews(LightAdmitted{})), "kind 65"},
      {"cut", enter.substr(0, enter.size() - 1), "length"},
      {"longer", enter + "x", "length"},
      {"no words", to_frame(LightRequest(LightEnter{})), "found 0 words"},
      {"a place", to_frame(LightRequest(LightEnter{.cwd = "src", .words = {"cc"}})), "absolute"},
      {"a flag", "\x01\x03\x02\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"s, "length"},
  };
  for (const Case& bad : cases) {
    const auto heard = parse_light_request(bad.frame);
    ASSERT_FALSE(heard) << bad.what;
    EXPECT_THAT(heard.error().message(), HasSubstr(bad.error)) << bad.what;
  }
  EXPECT_FALSE(parse_light_news(enter));
  EXPECT_FALSE(parse_light_news(""));
}

}  // namespace
}  // namespace plimsoll::supervisor
