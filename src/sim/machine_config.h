#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/units.h"

// The simulated machine: its size, and the constants of its kernel, each with where it is from.
// "Measured" is: by us, on Linux 6.1, 6.12 or 6.18, on idle machines.
namespace plimsoll::sim {

// What stands at the line.
enum class Wall : std::uint8_t {
  throttle,  // memory.high of the pool: allocators are slowed down; the kernel kills further above
  kill,      // nothing: the kernel's OOM killer acts at the line itself
};

// Whether anybody looks at jobs and machine. Policies that look at nothing run much faster.
enum class Sampling : std::uint8_t { jobs_and_machine, machine, none };

struct MachineConfig {
  double cores = 1;
  Bytes line;
  Bytes swap{};  // none: there is no swap
  Wall wall = Wall::throttle;
  Sampling sampling = Sampling::jobs_and_machine;
};

// What the machine has beside the line: the reserve of the default line, max(5 %, min(512 MiB, an
// eighth)) of the whole, as a share of the line.
constexpr Bytes reserve_of(Bytes line) {
  constexpr Bytes kReserve{std::uint64_t{512} << 20};
  return std::max(Bytes{line.count / 19}, std::min(kReserve, Bytes{line.count / 7}));
}

// memory.max of the pool stands so far above memory.high: high is 97 % of max, which leaves room
// for the 2 to 3 % at which allocators come to stand.
inline constexpr double kHighShareOfMax = 0.97;

// The throttle of memory.high. By the kernel's rule (mm/memcontrol.c, the delay grows with the
// square of the overage) a batch of kThrottleBatchMib costs kThrottleScale x overage^2 seconds of
// sleep, and none where that is below a hundredth of a second. At 3 % this is 2 MiB/s for each who
// allocates; measured: 1 to 3 % above after one second, 1 to 2 MB/s from there.
inline constexpr double kThrottleBatchMib = 0.125;
inline constexpr double kThrottleScale = 64;
inline constexpr double kThrottleFrom = 0.0125;  // overage whose sleep is a hundredth of a second
// How often the throttled are given a new pace: the overage moves by a few per mille meanwhile.
inline constexpr Duration kThrottleTick = std::chrono::milliseconds(20);

// mkdir, spawn and limits of a group: measured 0.87 ms, with the limits some more.
inline constexpr Duration kStartCost = std::chrono::milliseconds(2);
// From the freezer's write until everything stands: measured 0.03 to 0.2 ms idle, 1.5 to 15 ms when
// the machine is busy.
inline constexpr Duration kFreezeDelay = std::chrono::milliseconds(5);
// The same for a job that sleeps in the throttle: measured 1.8 to 2 s with several allocators.
inline constexpr Duration kFreezeDelayThrottled = std::chrono::seconds(2);
// From SIGKILL until everything is dead, in the throttle too: measured 25 to 30 ms.
inline constexpr Duration kKillDelay = std::chrono::milliseconds(30);
// How fast the kernel then takes back memory; a guess from 0.1 to 0.2 us a page.
inline constexpr double kExitMibPerSecond = 20'000;

// Pushing memory of a frozen job out with memory.reclaim, and faulting it in again. Measured: 220
// to 31 MB in 0.35 s with zram.
inline constexpr double kSwapMibPerSecond = 600;

// A sample is what was true so long before it is told: reading, and the turn of the loop.
inline constexpr Duration kSampleDelay = std::chrono::milliseconds(5);
// The gaps between samples: the short one at first and while growth brings the line near, the long
// one when calm.
inline constexpr Duration kSampleGapShort = std::chrono::milliseconds(100);
inline constexpr Duration kSampleGapCalm = std::chrono::seconds(1);
// So long an attempt is sampled at the short gap whatever it does.
inline constexpr Duration kSampledClosely = std::chrono::seconds(2);
// So many samples are taken before the line is reached at the present growth.
inline constexpr double kSamplesBeforeLine = 10;
// memory.events and the eventfds of v1: at most one notification in so long.
inline constexpr Duration kAlarmGap = std::chrono::milliseconds(10);

}  // namespace plimsoll::sim
