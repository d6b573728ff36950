#include "report/json_shortest.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "report/rfc3339.h"

namespace plimsoll::report {
namespace {

using namespace std::chrono_literals;

TEST(Shortest, WritesNumbersAsOthersDo) {
  struct Case {
    double number;
    const char* text;
  };
  constexpr Case kCases[] = {
      {0.0, "0"},
      {-0.0, "0"},
      {1.0, "1"},
      {-2.5, "-2.5"},
      {0.5, "0.5"},
      {1.25, "1.25"},
      {30.007, "30.007"},
      {0.1, "0.1"},
      {100.0, "100"},
      {123456789.125, "123456789.125"},
      {0.000001, "0.000001"},
      {0.0000001, "1e-7"},
      {1.5e-12, "1.5e-12"},
      {1e20, "100000000000000000000"},
      {1e21, "1e+21"},
      {std::numeric_limits<double>::max(), "1.7976931348623157e+308"},
      {std::numeric_limits<double>::denorm_min(), "5e-324"},
      {std::numeric_limits<double>::infinity(), "null"},
      {std::numeric_limits<double>::quiet_NaN(), "null"},
  };
  for (const Case& c : kCases) EXPECT_EQ(shortest(c.number), c.text);
}

TEST(Shortest, IsJsonIndentedByTwo) {
  Json document = Json::object();
  document["b"] = 0.0;
  document["a"] = Json::array({1, Json::object(), Json::array(), nullptr});
  document["text\n"] = "\xff\"";
  EXPECT_EQ(shortest_text_of(document),
            "{\n"
            "  \"b\": 0,\n"
            "  \"a\": [\n"
            "    1,\n"
            "    {},\n"
            "    [],\n"
            "    null\n"
            "  ],\n"
            "  \"text\\n\": \"\xef\xbf\xbd\\\"\"\n"
            "}\n");
  EXPECT_EQ(shortest_text_of(Json::object()), "{}\n");
}

TEST(Rfc3339, HasNoZerosAtTheEndOfAFraction) {
  const auto text = [](Duration since) { return rfc3339(WallTime(since)); };
  EXPECT_EQ(text(0s), "1970-01-01T00:00:00Z");
  EXPECT_EQ(text(1'700'000'002s), "2023-11-14T22:13:22Z");
  EXPECT_EQ(text(1'700'000'002s + 600ms), "2023-11-14T22:13:22.6Z");
  EXPECT_EQ(text(1'700'000'002s + 1ns), "2023-11-14T22:13:22.000000001Z");
  EXPECT_EQ(text(1'709'251'199s + 999'999'990ns), "2024-02-29T23:59:59.99999999Z");
  EXPECT_EQ(text(-1ns), "1969-12-31T23:59:59.999999999Z");
}

}  // namespace
}  // namespace plimsoll::report
