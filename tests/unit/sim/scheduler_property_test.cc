#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "random_run.h"
#include "seeds.h"

// Thousands of machines and sets of jobs that nobody chose: the promises hold at every turn.
namespace plimsoll::sim {
namespace {

constexpr std::uint64_t kSeedsEach = 250;
// A sanitizer makes each some ten times slower; the others run without.
#ifdef PLIMSOLL_SANITIZED
constexpr std::uint64_t kStep = 10;
#else
constexpr std::uint64_t kStep = 1;
#endif

class SchedulerProperty : public testing::TestWithParam<std::uint64_t> {};

TEST_P(SchedulerProperty, PromisesHold) {
  const std::uint64_t first = seeds_from() + GetParam();
  for (std::uint64_t seed = first; seed < first + kSeedsEach; seed += kStep) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Setting setting = SettingMaker(seed).make();
    sim::SimulatedExecutor executor(setting.machine, setting.jobs);
    Watch watch(setting, executor);
    ASSERT_THAT(watch.run(), testing::IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SchedulerProperty,
                         testing::Values(0, 250, 500, 750, 1000, 1250, 1500, 1750));

}  // namespace
}  // namespace plimsoll::sim
