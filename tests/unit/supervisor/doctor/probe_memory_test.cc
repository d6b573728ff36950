#include "supervisor/doctor/probes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::supervisor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ParseSwaps, TakesEachAreaWithItsSize) {
  EXPECT_THAT(parse_swaps("Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
                          "/dev/zram0                              partition\t524284\t\t0\t\t100\n"
                          "/swap\\040file file\t8\t0\t-2\n"),
              ElementsAre(SwapArea{"/dev/zram0", Bytes{524284 * 1024}},
                          SwapArea{"/swap\\040file", Bytes{8192}}));
}

TEST(ParseSwaps, PassesOverWhatItDoesNotKnow) {
  for (const char* text : {"", "\n", "Filename Type Size\n", "Filename\n/dev/sda2 partition\n",
                           "Filename\n/dev/sda2 partition many 0 0\n", "Filename\n\n\t\t\t\n"}) {
    EXPECT_THAT(parse_swaps(text), IsEmpty()) << text;
  }
}

TEST(JudgeSwap, MissesItWhereThereIsNone) {
  EXPECT_EQ(judge_swap({}).state, report::CheckState::missing);
  const auto some = judge_swap({{"/dev/zram0", Bytes{1 << 30}}, {"/swap", Bytes{1 << 20}}});
  EXPECT_EQ(some.state, report::CheckState::ok);
  EXPECT_EQ(some.value, "/dev/zram0 1.00 GiB, /swap 1.00 MiB");
}

}  // namespace
}  // namespace plimsoll::supervisor
