#include "base/quantity.h"

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

using namespace literals;
using namespace std::chrono_literals;

TEST(ParseBytes, TakesUnitsOfContainers) {
  const std::pair<const char*, Bytes> good[] = {
      {"0", {0}},           {"4096", {4096}},     {"512M", 512_MiB}, {"2g", 2_GiB},
      {"1.5GiB", 1536_MiB}, {"1.5 GB", 1536_MiB}, {"10B", {10}},     {" 7K ", 7_KiB}};
  for (const auto& [text, bytes] : good) EXPECT_EQ(*parse_bytes(text), bytes) << text;
}

TEST(ParseBytes, RefusesAnythingElseAndSaysWhatItFound) {
  for (const auto* bad :
       {"", "M", "-1", "1e3", "1X", "1.2.3", "80%", "1 M M", "99999999T", "nan"}) {
    const auto result = parse_bytes(bad);
    ASSERT_FALSE(result) << bad;
    EXPECT_NE(result.error().message().find("found \"" + std::string(bad) + "\""),
              std::string::npos);
  }
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

}  // namespace
}  // namespace plimsoll
