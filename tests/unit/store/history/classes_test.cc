#include "store/history/classes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "entries.h"

namespace plimsoll::history {
namespace {

using namespace testing;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Summarise, QuantilesAreValuesThatOccurred) {
  std::vector<Entry> entries;
  for (std::uint64_t i = 1; i <= 10; ++i) {
    entries.push_back(entry("a", Bytes{i * 100}, kNow + i * 1s));
    entries.back().attempt_summary.ran = i * 1s;
  }
  entries[3].attempt_summary.peak_seen = policy::Seen::at_least;
  entries[4].attempt_summary.cores = 2.5;
  const auto classes = summarise(entries, "*");
  ASSERT_THAT(classes, SizeIs(1));
  EXPECT_EQ(classes[0].count, 10U);
  EXPECT_EQ(classes[0].at_least, 1U);
  EXPECT_EQ(classes[0].peak.p50, Bytes{500});
  EXPECT_EQ(classes[0].peak.p90, Bytes{900});
  EXPECT_EQ(classes[0].peak.max, Bytes{1000});
  EXPECT_EQ(classes[0].ran.p50, 5s);
  EXPECT_EQ(classes[0].cores->max, 2.5);
  EXPECT_EQ(classes[0].last, kNow + 10s);
}

TEST(Summarise, WhatIsKnownOfSomeIsToldOfThese) {
  std::vector<Entry> entries = {entry("a", 1_MiB), entry("a", 1_MiB), entry("a", 1_MiB)};
  entries[0].attempt_summary.written = 20_MiB;
  entries[2].attempt_summary.written = 10_MiB;
  const auto classes = summarise(entries, "*");
  ASSERT_THAT(classes, SizeIs(1));
  EXPECT_EQ(classes[0].written->p50, 10_MiB);
  EXPECT_EQ(classes[0].written->max, 20_MiB);
  EXPECT_FALSE(classes[0].io.has_value());
}

TEST(Summarise, HeaviestFirstAndByPattern) {
  const std::vector<Entry> entries = {entry("small", 1_MiB), entry("big", 1_GiB),
                                      entry("bigger", 2_GiB)};
  const auto classes = summarise(entries, "*");
  ASSERT_THAT(classes, SizeIs(3));
  EXPECT_EQ(classes[0].key.exact, "bigger");
  EXPECT_EQ(classes[2].key.exact, "small");
  EXPECT_EQ(classes[2].cores, std::nullopt);
  EXPECT_THAT(summarise(entries, "big"), SizeIs(1));
  EXPECT_THAT(summarise(entries, "big*"), SizeIs(2));
  EXPECT_THAT(summarise(entries, "none"), IsEmpty());
  EXPECT_THAT(summarise({}, "*"), IsEmpty());
}

}  // namespace
}  // namespace plimsoll::history
