#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler_scene.h"

namespace plimsoll::policy {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;

// Whoever has none before whoever has some, be he there long before.
TEST(Scheduler, UsersTakeTurns) {
  Scene run({.jobs_max = 8, .ended = Ended::forgotten});
  run.scheduler.begin(run.executor);
  run.tenant = Tenant{1001};
  for (unsigned id = 1; id <= 100; ++id) run.enter(id);
  const auto first = run.executor.take();
  ASSERT_THAT(first, ElementsAre("start 1", "start 2", "start 3", "start 4"));
  run.tenant = Tenant{1002};
  run.enter(1001);
  EXPECT_THAT(run.executor.take(), ElementsAre("start 1001"));
  run.scheduler.on_over(JobId{1001}, kOk);
  run.at(10s);
  run.enter(1002);
  EXPECT_THAT(run.executor.take(), Contains("start 1002"));
}

}  // namespace
}  // namespace plimsoll::policy
