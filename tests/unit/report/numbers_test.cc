#include "report/numbers.h"

#include <gtest/gtest.h>

namespace plimsoll::report {
namespace {

TEST(NumberText, GoesByTheUnitInTheName) {
  const struct {
    const char* name;
    double value;
    const char* expected;
  } cases[] = {
      {"used_bytes", 1536, "used 1.50 KiB"},
      {"pool_used_bytes", 0, "pool used 0 B"},
      {"shortage_bytes", -1536, "shortage -1.50 KiB"},
      {"growth_bytes_per_s", 104857600, "growth 100 MiB/s"},
      {"left_byte_s", 2048, "left 2.00 KiB x s"},
      {"waited_s", 1.5, "waited 1.50 s"},
      {"moved_s", -1.5, "moved -1.50 s"},
      {"stalled_ns", 2e9, "stalled 2.00 s"},
      {"full_percent", 12.5, "full 12.5 %"},
      {"idle_share", 0.125, "idle 12.5 %"},
      {"cores_busy", 2, "cores busy 2"},
      {"cores_busy", 0.003976, "cores busy 0"},
      {"cores_busy", 0.256, "cores busy 0.26"},
      {"job_count", 3, "job count 3"},
      {"far_s", 1e300, "far 1e+300 s"},
      {"far_bytes", 1e300, "far 1e+300"},
      {"x\x1b", 1, "x? 1"},
  };
  for (const auto& c : cases) EXPECT_EQ(number_text(c.name, c.value), c.expected) << c.name;
}

TEST(NumberText, SaysPlainlyWhatTheNameSaysInShort) {
  EXPECT_EQ(number_text("cores", 2), "cores to use 2");
  EXPECT_EQ(number_text("cores_predicted", 1.5), "cores expected to be used 1.50");
  EXPECT_EQ(number_text("cores_estimate", 0.25), "cores it is expected to use 0.25");
  EXPECT_EQ(number_text("runnable", 10.6), "tasks that want to run 10.60");
  EXPECT_EQ(number_text("io_full", 0.42), "all stalled on I/O 42 %");
}

TEST(NumberMeaning, IsThatOfTheName) {
  EXPECT_EQ(number_label("horizon_s"), "looking ahead");
  EXPECT_EQ(number_label("job_used_bytes"), "job used");
  EXPECT_EQ(number_meaning("line_bytes"), "memory that all jobs together may use");
  EXPECT_EQ(number_meaning("far_bytes"), "");
}

}  // namespace
}  // namespace plimsoll::report
