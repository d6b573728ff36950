#include "report/buildkit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "reports.h"

namespace plimsoll::report {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using namespace testing;

// By hand from the tables of docs/formats/buildkit.md; the values are those of full_sample().
constexpr const char* kWholeText = R"({
  "resourceUsage": {
    "samples": [
      {
        "timestamp": "2023-11-14T22:13:22Z",
        "cpuStat": {
          "usageNanos": 3000000000,
          "userNanos": 2000000000,
          "systemNanos": 1000000000,
          "nrPeriods": 40,
          "nrThrottled": 4,
          "throttledNanos": 50000000,
          "pressure": {
            "some": {
              "avg10": 1.5,
              "avg60": 0.25,
              "avg300": 0,
              "total": 30000
            },
            "full": null
          }
        },
        "memoryStat": {
          "swapBytes": 1048576,
          "anon": 1048576,
          "file": 2097152,
          "kernel": 3,
          "kernelStack": 4,
          "pageTables": 5,
          "sock": 6,
          "vmalloc": 7,
          "shmem": 8,
          "fileMapped": 9,
          "fileDirty": 10,
          "fileWriteback": 11,
          "slab": 13,
          "pgscan": 15,
          "pgsteal": 16,
          "pgfault": 17,
          "pgmajfault": 18,
          "peak": 1073741824,
          "highEvents": 1,
          "maxEvents": 2,
          "oomEvents": 3,
          "oomKillEvents": 4,
          "pressure": {
            "some": {
              "avg10": 1.5,
              "avg60": 0.25,
              "avg300": 0,
              "total": 20000
            },
            "full": {
              "avg10": 0,
              "avg60": 0,
              "avg300": 0,
              "total": 10000
            }
          }
        },
        "ioStat": {
          "readBytes": 1024,
          "writeBytes": 2048,
          "discardBytes": 3,
          "readIOs": 4,
          "writeIOs": 5,
          "discardIOs": 6,
          "pressure": {
            "some": null,
            "full": null
          }
        },
        "pidsStat": {
          "current": 7
        },
        "netStat": {
          "rxBytes": 200,
          "rxPackets": 4,
          "txBytes": 100,
          "txPackets": 3
        }
      }
    ],
    "sysCPUStat": {
      "user": 1.25,
      "nice": 0,
      "system": 0.5,
      "idle": 30.007,
      "iowait": 0,
      "irq": 0,
      "softirq": 0.01,
      "steal": 0,
      "guest": 0.001,
      "guestNice": 0
    }
  },
  "sysUsage": [
    {
      "timestamp": "2023-11-14T22:13:20.5Z",
      "cpuStat": {
        "user": 41,
        "nice": 0,
        "system": 0,
        "idle": 380.25,
        "iowait": 0,
        "irq": 0,
        "softirq": 0,
        "steal": 0,
        "guest": 0,
        "guestNice": 0
      },
      "procStat": {
        "contextSwitches": 10,
        "processCreated": 11,
        "processesRunning": 12
      },
      "memoryStat": {
        "total": 8388608,
        "free": null,
        "available": 4194304,
        "buffers": null,
        "cached": null,
        "active": null,
        "inactive": null,
        "swap": 2097152,
        "dirty": null,
        "writeback": null,
        "slab": 1
      },
      "memoryPressure": {
        "some": {
          "avg10": null,
          "avg60": null,
          "avg300": null,
          "total": 3000
        },
        "full": null
      }
    }
  ]
}
)";

counters::SystemSample some_machine() {
  counters::SystemSample sample;
  sample.wall = wall_at(1'700'000'000'500ms);
  sample.cpu = counters::SystemSample::Cpu{};
  sample.cpu->user = 41s;
  sample.cpu->idle = 380'250ms;
  sample.context_switches = 10;
  sample.processes_created = 11;
  sample.processes_running = 12;
  sample.processes_blocked = 13;
  sample.meminfo = {{"MemTotal", 8_GiB},
                    {"MemAvailable", 4_GiB},
                    {"SwapTotal", 2_GiB},
                    {"SwapFree", 1_GiB},
                    {"Slab", Bytes{2047}}};
  sample.memory_pressure =
      counters::Pressure{.some = counters::PressureLine{.total = 3ms}, .full = {}};
  return sample;
}

counters::SystemSample::Cpu busy_times() {
  counters::SystemSample::Cpu cpu;
  cpu.user = 1250ms;
  cpu.system = 500ms;
  cpu.idle = 30'007ms;
  cpu.softirq = 10ms;
  cpu.guest = 500us;  // half a thousandth goes up
  cpu.guest_nice = 499'999ns;
  return cpu;
}

json usage_of(const std::vector<counters::Sample>& samples) {
  counters::JobUsage usage;
  usage.samples = samples;
  if (!samples.empty()) usage.totals = samples.back();
  return json::parse(buildkit_usage(usage, std::nullopt).dump());
}

json sample_of(const counters::Sample& sample) { return usage_of({sample})["samples"].at(0); }

json system_of(const counters::SystemSample& sample) {
  return json::parse(buildkit_system_usage({sample}).dump()).at(0);
}

TEST(Buildkit, HasEveryFieldInItsPlace) {
  counters::Sample sample = full_sample();
  sample.cpu.pressure->full.reset();
  sample.io.pressure = counters::Pressure{};
  counters::JobUsage usage;
  usage.samples = {sample};
  EXPECT_EQ(to_buildkit_json({.usage = usage, .machine = busy_times(), .system = {some_machine()}}),
            kWholeText);
}

TEST(Buildkit, OfNothingMeasuredHasNothing) {
  EXPECT_EQ(to_buildkit_json({.usage = {}, .system = {}}), "{\n  \"resourceUsage\": {}\n}\n");
}

TEST(Buildkit, LeavesOutWhatIsNotKnown) {
  counters::Sample sample;
  sample.wall = wall_at(1s);
  EXPECT_EQ(sample_of(sample),
            json::parse(R"({"timestamp": "1970-01-01T00:00:01Z", "pidsStat": {}})"));
  // A pressure file alone says nothing of a controller.
  sample.cpu.pressure = sample.memory.pressure = sample.io.pressure = pressure(1s, 1s);
  EXPECT_EQ(sample_of(sample).size(), 2U);
  sample.cpu.usage = 0s;
  sample.memory.peak = Bytes{0};
  EXPECT_EQ(sample_of(sample)["cpuStat"]["usageNanos"], 0);
  EXPECT_EQ(sample_of(sample)["memoryStat"]["peak"], 0);
  EXPECT_FALSE(sample_of(sample)["cpuStat"].contains("nrPeriods"));
}

TEST(Buildkit, SystemSampleLeavesOutWhatIsNotKnown) {
  counters::SystemSample sample;
  sample.wall = wall_at(1s);
  EXPECT_EQ(system_of(sample), json::parse(R"({"timestamp": "1970-01-01T00:00:01Z"})"));
  sample.context_switches = 1;  // but not the others
  EXPECT_EQ(system_of(sample).size(), 1U);
}

// The traps of the format, each by its own.

TEST(BuildkitTrap, WholeNumbersStayWholeAndKeysInTheirOrder) {
  counters::Sample sample = full_sample();
  sample.memory.stat.anon = Bytes{(1ULL << 53) + 1};  // no double has it
  counters::JobUsage usage;
  usage.samples = {sample};
  const std::string text = buildkit_usage(usage, std::nullopt).dump();
  EXPECT_THAT(text, HasSubstr(R"("anon":9007199254740993,"file":)"));
  EXPECT_THAT(text, HasSubstr(R"("swapBytes":1048576,"anon")"));
}

TEST(BuildkitTrap, SizesOfGroupsAreBytesThoseOfTheMachineKibibytes) {
  EXPECT_EQ(sample_of(full_sample())["memoryStat"]["file"], 2 << 20);
  EXPECT_EQ(system_of(some_machine())["memoryStat"]["total"], 8 << 20);
}

TEST(BuildkitTrap, ThreeUnitsOfTime) {
  EXPECT_EQ(sample_of(full_sample())["cpuStat"]["usageNanos"], 3'000'000'000);
  EXPECT_EQ(sample_of(full_sample())["memoryStat"]["pressure"]["some"]["total"], 20'000);
  EXPECT_EQ(system_of(some_machine())["cpuStat"]["user"], 41);
}

TEST(BuildkitTrap, EventsAndTrafficOfZeroVanish) {
  counters::Sample sample = full_sample();
  sample.memory.events = {.low = 0, .high = 0, .max = 0, .oom = 0, .oom_kill = 0};
  sample.network = counters::NetworkUsage{.rx = Bytes{0}, .tx = Bytes{77}};
  const json found = sample_of(sample);
  for (const auto* key : {"low", "high", "max", "oom", "oomKill"}) {
    EXPECT_FALSE(found["memoryStat"].contains(std::string(key) + "Events")) << key;
  }
  EXPECT_EQ(found["netStat"], json::parse(R"({"rxBytes": 77})"));
}

TEST(BuildkitTrap, ObjectsMayBeEmpty) {
  counters::Sample sample = full_sample();
  sample.pids.current.reset();
  sample.network = counters::NetworkUsage{};
  EXPECT_EQ(sample_of(sample)["pidsStat"], json::object());
  EXPECT_EQ(sample_of(sample)["netStat"], json::object());
  sample.network.reset();
  EXPECT_FALSE(sample_of(sample).contains("netStat"));
}

TEST(BuildkitTrap, WithoutAnyIoThereArePressuresOnly) {
  counters::Sample sample;
  sample.io = {.read = Bytes{}, .written = Bytes{}, .read_ops = 0, .write_ops = 0};
  EXPECT_EQ(sample_of(sample)["ioStat"], json::object());
  sample.io.pressure = pressure(1s, 0s);
  EXPECT_EQ(sample_of(sample)["ioStat"].size(), 1U);
  sample.io.read_ops = 1;
  EXPECT_EQ(sample_of(sample)["ioStat"]["writeBytes"], 0);
}

TEST(BuildkitTrap, MissingPressureIsNullInsideAndAbsentOutside) {
  counters::Sample sample = full_sample();
  sample.memory.pressure.reset();
  sample.cpu.pressure->some.reset();
  sample.cpu.pressure->full->avg10.reset();
  const json found = sample_of(sample);
  EXPECT_FALSE(found["memoryStat"].contains("pressure"));
  EXPECT_EQ(found["cpuStat"]["pressure"], json::parse(R"({"some": null, "full":
      {"avg10": null, "avg60": 0, "avg300": 0, "total": 0}})"));
}

TEST(BuildkitTrap, SwapOfTheMachineIsItsSize) {
  EXPECT_EQ(system_of(some_machine())["memoryStat"]["swap"], 2 << 20);
}

TEST(BuildkitTrap, NarrowCountsDoNotWrap) {
  counters::Sample sample = full_sample();
  sample.cpu.nr_periods = 1ULL << 32;
  sample.cpu.nr_throttled = (1ULL << 32) - 1;
  sample.network->tx = Bytes{std::numeric_limits<std::uint64_t>::max()};
  const json found = sample_of(sample);
  EXPECT_EQ(found["cpuStat"]["nrPeriods"], 4'294'967'295);
  EXPECT_EQ(found["cpuStat"]["nrThrottled"], 4'294'967'295);
  EXPECT_EQ(found["netStat"]["rxBytes"], std::numeric_limits<std::int64_t>::max());
}

TEST(BuildkitTrap, TimesOfTheMachineDoNotOverflow) {
  counters::SystemSample sample;
  sample.cpu = counters::SystemSample::Cpu{};
  sample.cpu->idle = Duration::max();
  EXPECT_EQ(system_of(sample)["cpuStat"]["idle"], 9'223'372'036.855);
}

}  // namespace
}  // namespace plimsoll::report
