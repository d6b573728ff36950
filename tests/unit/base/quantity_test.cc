#include "base/quantity.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace plimsoll {
namespace {

using namespace literals;
using namespace std::chrono_literals;

TEST(Bytes, NeitherSumNorDifferenceWraps) {
  constexpr Bytes kMost{std::numeric_limits<std::uint64_t>::max()};
  EXPECT_EQ(kMost + 1_GiB, kMost);
  EXPECT_EQ(1_GiB + kMost, kMost);
  EXPECT_EQ((kMost - 1_GiB) + 1_GiB, kMost);
  EXPECT_EQ(1_GiB - kMost, Bytes{});
}

TEST(ParseBytes, TakesUnitsOfContainers) {
  const std::pair<const char*, Bytes> good[] = {
      {"0", {0}},           {"4096", {4096}},     {"512M", 512_MiB}, {"2g", 2_GiB},
      {"1.5GiB", 1536_MiB}, {"1.5 GB", 1536_MiB}, {"10B", {10}},     {" 7K ", 7_KiB}};
  for (const auto& [text, bytes] : good) EXPECT_EQ(*parse_bytes(text), bytes) << text;
}

TEST(ParseBytes, RefusesAnythingElseAndSaysWhatItFound) {
  for (const auto* bad : {"", "M", "-1", "1e3", "1X", "1.2.3", "80%", "1 M M", "99999999T", "nan",
                          "1ib", "1bb", "1kibb", ".", "+1", "0x10"}) {
    const auto result = parse_bytes(bad);
    ASSERT_FALSE(result) << bad;
    EXPECT_NE(result.error().message().find("found \"" + std::string(bad) + "\""),
              std::string::npos);
  }
}

TEST(ParseBytes, SaysOfTooMuchThatItIsTooMuch) {
  EXPECT_EQ(parse_bytes("99999999T").error().message(),
            "found \"99999999T\", expected at most 8000000T");
  EXPECT_TRUE(parse_bytes("8000000T"));
  EXPECT_EQ(parse_duration("999999d").error().message(),
            "found \"999999d\", expected at most 100000d");
  EXPECT_TRUE(parse_duration("100000d"));
}

TEST(ParseAboveZero, RefusesNothingAndTakesTheLeast) {
  EXPECT_EQ(*parse_bytes_above_zero("1"), Bytes{1});
  for (const char* none : {"0", "0G", "0.4"}) {
    EXPECT_EQ(parse_bytes_above_zero(none).error().message(),
              "found \"" + std::string(none) + "\", expected a size above 0, such as 512M");
  }
  EXPECT_EQ(*parse_duration_above_zero("1ms"), 1ms);
  EXPECT_EQ(parse_duration_above_zero("0s").error().message(),
            "found \"0s\", expected a duration above 0, such as 10s");
  EXPECT_FALSE(parse_duration_above_zero("x"));
}

TEST(ParseBytesOrShare, TakesAShareOfTheWhole) {
  EXPECT_EQ(*parse_bytes_or_share("50%", 2_GiB), 1_GiB);
  EXPECT_EQ(*parse_bytes_or_share("1G", 2_GiB), 1_GiB);
  EXPECT_FALSE(parse_bytes_or_share("101%", 2_GiB));
  EXPECT_FALSE(parse_bytes_or_share("%", 2_GiB));
}

TEST(ParseDuration, TakesUnitsAndBareSeconds) {
  const std::pair<const char*, Duration> good[] = {{"250ms", 250ms}, {"10s", 10s}, {"5m", 5min},
                                                   {"1.5h", 90min},  {"30", 30s},  {"2d", 48h}};
  for (const auto& [text, duration] : good) EXPECT_EQ(*parse_duration(text), duration) << text;
  for (const auto* bad : {"", "s", "-1s", "10 parsecs", "1h30m"}) EXPECT_FALSE(parse_duration(bad));
}

TEST(Format, IsForPeople) {
  EXPECT_EQ(format_bytes({0}), "0 B");
  EXPECT_EQ(format_bytes(1536_MiB), "1.50 GiB");
  EXPECT_EQ(format_bytes(220_MiB), "220 MiB");
  EXPECT_EQ(format_duration(870us), "0.87 ms");
  EXPECT_EQ(format_duration(12340ms), "12.3 s");
  EXPECT_EQ(format_duration(123s), "2m03s");
  EXPECT_EQ(format_duration(3720s), "1h02m");
}

TEST(Format, RoundsIntoTheNextUnit) {
  EXPECT_EQ(format_bytes({1023}), "1023 B");
  EXPECT_EQ(format_bytes({(1 << 20) - 1}), "1.00 MiB");
  EXPECT_EQ(format_bytes({10'238}), "10.0 KiB");
  EXPECT_EQ(format_duration(999'999us), "1.00 s");
  EXPECT_EQ(format_duration(9'999ms), "10.0 s");
  EXPECT_EQ(format_duration(59'990ms), "1m00s");
  EXPECT_EQ(format_duration(3'599'700ms), "1h00m");
}

RC_GTEST_PROP(QuantityProperty, UnitsAreReadBackExactly, ()) {
  const auto number = *rc::gen::inRange<std::uint64_t>(0, 1'000'000);
  const std::string text = std::to_string(number);
  RC_ASSERT(*parse_bytes(text) == Bytes{number});
  RC_ASSERT(*parse_bytes(text + "K") == Bytes{number << 10});
  RC_ASSERT(*parse_bytes(text + "MiB") == Bytes{number << 20});
  RC_ASSERT(*parse_bytes(text + " gb") == Bytes{number << 30});
  const auto count = static_cast<Duration::rep>(number);
  RC_ASSERT(*parse_duration(text + "ns") == std::chrono::nanoseconds(count));
  RC_ASSERT(*parse_duration(text + "ms") == std::chrono::milliseconds(count));
  RC_ASSERT(*parse_duration(text) == std::chrono::seconds(count));
  RC_ASSERT(*parse_duration(text + "m") == std::chrono::minutes(count));
}

// What people are shown is within half of its third digit of the truth.
RC_GTEST_PROP(QuantityProperty, WhatIsPrintedIsReadBackNearly, ()) {
  constexpr double kThirdDigit = 0.0051;
  const Bytes bytes{*rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 50)};
  const auto read = static_cast<double>(parse_bytes(format_bytes(bytes))->count);
  const auto truth = static_cast<double>(bytes.count);
  RC_ASSERT(std::abs(read - truth) <= truth * kThirdDigit);
  const Duration duration(*rc::gen::inRange<Duration::rep>(10'000, 59'000'000'000));
  const auto time = static_cast<double>(parse_duration(format_duration(duration))->count());
  const auto true_time = static_cast<double>(duration.count());
  RC_ASSERT(std::abs(time - true_time) <= true_time * kThirdDigit + 5'000);
}

RC_GTEST_PROP(QuantityProperty, AShareIsNeverMoreThanTheWhole, ()) {
  const Bytes whole{*rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 50)};
  const auto percent = *rc::gen::inRange(0, 101);
  RC_ASSERT(*parse_bytes_or_share(std::to_string(percent) + "%", whole) <= whole);
}

}  // namespace
}  // namespace plimsoll
