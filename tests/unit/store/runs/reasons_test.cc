#include "store/runs/event_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::report {
namespace {

TEST(WithoutNumbers, LeavesTheWords) {
  const struct {
    const char* reason;
    const char* expected;
  } cases[] = {
      {"", ""},
      {"nothing to do", "nothing to do"},
      {"needs 2.0 GiB, only 512 MiB is free", "needs ..., only ... is free"},
      {"load is 80% of 4 cores", "load is ... of ..."},
      {"after 1.5 s (at most 2m03s)", "after ... (at most ...)"},
      {"job-7 waits 3", "job-7 waits ..."},
      {"12", "..."},
      {"3 jobs.", "... jobs."},
  };
  for (const auto& c : cases) EXPECT_EQ(without_numbers(c.reason), c.expected) << c.reason;
}

std::string merged(const std::vector<const char*>& reasons) {
  MergedReason merged(reasons.front());
  for (std::size_t i = 1; i < reasons.size(); ++i) merged.add(reasons[i]);
  return merged.text();
}

TEST(MergedReason, OneIsAsItWas) {
  for (const char* const reason : {"", "nothing to do", "needs 2.0 GiB, only 512 MiB is free",
                                   "after 2m03s (80%)", "3 jobs."}) {
    EXPECT_EQ(merged({reason}), reason);
    EXPECT_EQ(merged({reason, reason}), reason);
  }
}

TEST(MergedReason, KeepsWhatIsAlwaysTheSame) {
  EXPECT_EQ(merged({"waits for cores: the running jobs want 2.1 and there are 2",
                    "waits for cores: the running jobs want 10.6 and there are 2",
                    "waits for cores: the running jobs want 1.9 and there are 2"}),
            "waits for cores: the running jobs want 1.9 to 10.6 and there are 2");
}

TEST(MergedReason, GoesByTheSizeNotByTheDigits) {
  EXPECT_EQ(merged({"needs 2.0 GiB, of 4 cores", "needs 512 MiB, of 4 cores"}),
            "needs 512 MiB to 2.0 GiB, of 4 cores");
  EXPECT_EQ(merged({"needs 512 MiB.", "needs 64 MiB."}), "needs 64 to 512 MiB.");
  EXPECT_EQ(merged({"after 1m20s", "after 20 s", "after 1.00 s"}), "after 1.00 s to 1m20s");
}

TEST(MergedReason, OfWhatHasNoSizeItTellsNone) {
  EXPECT_EQ(merged({"job 3x4 waits", "job 5x4 waits"}), "job ... waits");
}

}  // namespace
}  // namespace plimsoll::report
