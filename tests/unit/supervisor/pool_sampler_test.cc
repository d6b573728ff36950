#include "supervisor/pool_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/kernel/counters/fake_group.h"

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

// A pool of cgroup v2 that has moved so many bytes and waited for so many microseconds.
struct DevicesOfAPool {
  void have(unsigned read, unsigned written, unsigned waited_us) const {
    const std::string waited = std::to_string(waited_us);
    directory.write("io.stat", "8:0 rbytes=" + std::to_string(read) +
                                   " wbytes=" + std::to_string(written) + " rios=1 wios=1\n");
    directory.write("io.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=" + waited +
                                       "\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
  }
  counters::FakeDirectory directory{cgroup::Version::v2};
};

TEST(PoolSamplerOfDevices, TellsWhatThePoolMovedAndHowLongItWaited) {
  const DevicesOfAPool devices;
  devices.have(1000, 500, 0);
  PoolSampler sampler(
      counters::group_of(devices.directory.part(cgroup::ControllerSet(cgroup::Controller::io))));
  const auto first = sampler.look(machine_at(0ms));
  ASSERT_TRUE(first.io) << "that it can be told is known from the start";
  EXPECT_EQ(first.io->bytes_per_second, 0);
  devices.have(3000, 1500, 150'000);
  EXPECT_EQ(sampler.look(machine_at(50ms)).io->bytes_per_second, 0) << "as before";
  const auto later = sampler.look(machine_at(200ms));
  ASSERT_TRUE(later.io);
  EXPECT_NEAR(later.io->bytes_per_second, 3000 / 0.2, 1e-6);
  EXPECT_NEAR(later.io->waited, 0.75, 1e-6);
}

TEST(PoolSamplerOfDevices, IsAbsentWithoutEitherCount) {
  const DevicesOfAPool devices;
  devices.have(1000, 500, 0);
  std::filesystem::remove(devices.directory.path() / "io.pressure");
  const auto controllers = cgroup::ControllerSet(cgroup::Controller::io);
  PoolSampler without_pressure(counters::group_of(devices.directory.part(controllers)));
  EXPECT_FALSE(without_pressure.look(machine_at(0ms)).io);
  EXPECT_FALSE(without_pressure.look(machine_at(200ms)).io);
  devices.have(1000, 500, 0);
  std::filesystem::remove(devices.directory.path() / "io.stat");
  PoolSampler without_bytes(counters::group_of(devices.directory.part(controllers)));
  EXPECT_FALSE(without_bytes.look(machine_at(0ms)).io);
  EXPECT_FALSE(without_bytes.look(machine_at(200ms)).io);
}

}  // namespace
}  // namespace plimsoll::supervisor
