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

// Whether what takes now longer and now shorter on a real machine, and is read with an error, does
// so here too, or is always the same and exact.
enum class Noise : std::uint8_t { none, seeded };

struct MachineConfig {
  double cores = 1;
  Bytes line;
  Bytes swap{};  // none: there is no swap
  Wall wall = Wall::throttle;
  Sampling sampling = Sampling::jobs_and_machine;
  double other_load = 0;  // cores that other people's busy loops ask for
  Noise noise = Noise::none;
  std::uint64_t seed = 1;  // of the noise
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
// When the throttled are given a new pace: when the overage has moved by this share of itself, and
// within these bounds.
inline constexpr double kThrottleMove = 0.05;
inline constexpr Duration kThrottleTickMin = std::chrono::milliseconds(20);
inline constexpr Duration kThrottleTickMax = std::chrono::seconds(1);

// From the decision until the command's first instruction: mkdir, limits, spawn through the
// guardian and exec. Measured 3 to 10 ms on hosts with work to do; the least where nothing varies.
inline constexpr Duration kStartCost = std::chrono::milliseconds(3);
inline constexpr Duration kStartCostMax = std::chrono::milliseconds(10);
// From the last instruction of a main process until its group is found empty and counted.
inline constexpr Duration kEndCost = std::chrono::milliseconds(2);
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
// A job is looked at for its record after so long, and again each time its age has doubled; for
// the governor by policy::SampleInterval.
inline constexpr Duration kFirstSample = std::chrono::milliseconds(10);

// The gaps between looks at the machine, as the supervisor's watcher has them: so many before the
// line is reached by twice the growth of late, or by this rate, which may come at any moment.
inline constexpr Duration kMachineGapMin = std::chrono::milliseconds(5);
inline constexpr Duration kMachineGapMax = std::chrono::milliseconds(250);
inline constexpr double kMachineLooksBefore = 4;
inline constexpr double kMachineGrowthAhead = 2;
inline constexpr double kMachineBurstMib = 400e6 / (1 << 20);  // MiB/s
// So close to the line, as a share of it, jobs are looked at with the machine: those whose memory
// moves at this gap at least, the others at that.
inline constexpr double kNearShare = 1.0 / 8;
inline constexpr Duration kMovingSampleInterval = std::chrono::milliseconds(10);
inline constexpr Duration kCalmSampleInterval = std::chrono::milliseconds(100);

// What a look costs the supervisor, at the machine and at each job, and what share of a core it may
// take with them.
inline constexpr Duration kMachineLookCost = std::chrono::microseconds(15);
inline constexpr Duration kJobLookCost = std::chrono::microseconds(25);
inline constexpr double kLookShare = 0.1;
inline constexpr Duration kMachineGapCostMax = std::chrono::milliseconds(50);
// A curve has nothing to show between looks that are closer than this share of the distance of its
// points, up to a bound: so that traces with a point a second don't take ten times as long.
inline constexpr double kFinest = 0.1;
inline constexpr Duration kFinestMax = std::chrono::milliseconds(100);

// Shares of time are told as PoolSampler tells them.
inline constexpr Duration kShareSpan = std::chrono::milliseconds(100);

// Noise. Each CPU keeps up to 64 pages of a group's memory to itself before it counts them.
inline constexpr double kMemoryNoiseMib = 0.25;
// /proc/stat counts in ticks.
inline constexpr Duration kTick = std::chrono::milliseconds(10);

// memory.events and the eventfds of v1: at most one notification in so long.
inline constexpr Duration kAlarmGap = std::chrono::milliseconds(10);

}  // namespace plimsoll::sim
