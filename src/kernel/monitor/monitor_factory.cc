#include "kernel/monitor/monitor_factory.h"

#include <fcntl.h>

#include "base/file.h"
#include "kernel/monitor/pool_events.h"
#include "kernel/monitor/pressure_trigger.h"
#include "kernel/monitor/usage_thresholds.h"

namespace plimsoll::monitor {
namespace {

using cgroup::Controller;
using cgroup::Directory;
using cgroup::Version;

Candidate totals(const Directory* v2) {
  const std::string file = v2 != nullptr ? "memory.pressure of the pool" : "/proc/pressure/memory";
  return {.why = "totals of " + file + ", with each look",
          .make = [v2](MonitorOwner&) -> Result<std::unique_ptr<Monitor>> {
            auto text = v2 != nullptr ? v2->read("memory.pressure")
                                      : read_text_at(AT_FDCWD, "/proc/pressure/memory");
            if (!text) return pass(std::move(text));
            return std::make_unique<PressureTotals>();
          },
          .gap_max = kStallLasts};
}

}  // namespace

Choice choose_event(const Surroundings& around) {
  const Directory* memory = around.pool.of(Controller::memory);
  if (memory == nullptr) return {{}, "the pool has no memory controller: looks alone"};
  if (memory->version() == Version::v2) {
    return {{{.why = "memory.events of the pool tells of memory.high and memory.max at once",
              .make =
                  [around, memory](MonitorOwner& owner) {
                    return PoolEvents::make(around.loop, *memory, owner);
                  }}},
            "looks alone"};
  }
  return {{{.why = "cgroup v1 has no memory.high: thresholds of usage, close to the line and at it",
            .make =
                [around, memory](MonitorOwner& owner) {
                  return UsageThresholds::make(around.loop, around.worker, *memory, owner);
                }}},
          "looks alone"};
}

Choice choose_pressure(const Surroundings& around) {
  const Directory* v2 = around.pool.v2();
  Choice choice{{}, "how long jobs wait for memory is not known"};
  if (v2 != nullptr) {
    choice.candidates.push_back({.why = "the kernel watches memory.pressure of the pool for us",
                                 .make = [around, v2](MonitorOwner& owner) {
                                   return PressureTrigger::make(around.loop, *v2, owner);
                                 }});
  }
  choice.candidates.push_back(totals(v2));
  return choice;
}

}  // namespace plimsoll::monitor
