#include "supervisor/pool_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::supervisor {
namespace {

using namespace std::chrono_literals;
using testing::DoubleNear;
using testing::Optional;

// A machine with one core busy all the time, and tasks that wait for the disk half of it.
counters::SystemSample machine_at(Duration time) {
  counters::SystemSample machine;
  machine.at = Instant(1000s) + time;
  machine.cpu = counters::SystemSample::Cpu{};
  machine.cpu->user = time;
  machine.io_pressure = counters::Pressure{.some = {}, .full = counters::PressureLine{}};
  machine.io_pressure->full->total = time / 2;
  machine.memory_pressure = counters::Pressure{.some = counters::PressureLine{}, .full = {}};
  machine.memory_pressure->some->total = time / 4;
  machine.meminfo["MemAvailable"] = Bytes{5000};
  return machine;
}

class PoolSamplerTest : public testing::Test {
 protected:
  const cgroup::Group pool_{"pool", {}};
  PoolSampler sampler_{pool_};
};

// Ticks of 10 ms in looks of 5 ms would be no core or two.
TEST_F(PoolSamplerTest, SharesAreOfLongEnoughSpans) {
  EXPECT_EQ(sampler_.look(machine_at(0ms)).cores_busy, std::nullopt);
  EXPECT_EQ(sampler_.look(machine_at(5ms)).cores_busy, std::nullopt);
  const auto first = sampler_.look(machine_at(100ms));
  EXPECT_THAT(first.cores_busy, Optional(DoubleNear(1, 1e-9)));
  EXPECT_THAT(first.stall.io_full, Optional(DoubleNear(0.5, 1e-9)));
  counters::SystemSample odd = machine_at(105ms);
  odd.cpu->user = 110ms;
  EXPECT_THAT(sampler_.look(odd).cores_busy, Optional(DoubleNear(1, 1e-9)));
}

TEST_F(PoolSamplerTest, WhatCanNotBeReadIsAbsent) {
  const auto seen = sampler_.look(machine_at(0ms));
  EXPECT_EQ(seen.pool_used, std::nullopt);
  EXPECT_EQ(sampler_.charged(), std::nullopt);
  EXPECT_EQ(seen.available, Bytes{5000});
}

TEST_F(PoolSamplerTest, WithoutAPressureOfItsOwnTheMachinesStandsIn) {
  std::ignore = sampler_.look(machine_at(400ms));
  EXPECT_EQ(sampler_.stalled(), Duration(100ms));
}

}  // namespace
}  // namespace plimsoll::supervisor
