#include "kernel/monitor/level_alarm.h"

#include "base/quantity.h"

namespace plimsoll::monitor {
namespace {}  // namespace

std::optional<Alarm> LevelAlarm::observe(const Reading& reading, double growth) {
  const Bytes line = reading.bounds.line;
  const Bytes relief{line.count / kReliefParts};
  std::optional<Alarm> alarm;
  if (reading.used) {
    if (*reading.used + relief < line) pool_told_ = false;
    if (*reading.used >= line && !pool_told_) {
      pool_told_ = true;
      alarm = Alarm{.monitor = "threshold",
                    .reason = "the jobs use " + format_bytes(*reading.used) + ", the line is " +
                              format_bytes(line),
                    .numbers = {{"used_bytes", to_double(*reading.used)},
                                {"line_bytes", to_double(line)},
                                {"growth_bytes_per_s", growth}}};
    }
  }
  if (reading.available) {
    const Bytes reserve = reading.bounds.reserve;
    if (*reading.available > reserve + relief) machine_told_ = false;
    if (*reading.available <= reserve && !machine_told_) {
      machine_told_ = true;
      alarm = Alarm{.monitor = "threshold",
                    .reason = "the machine has " + format_bytes(*reading.available) +
                              " left, and the reserve is " + format_bytes(reserve),
                    .numbers = {{"available_bytes", to_double(*reading.available)},
                                {"reserve_bytes", to_double(reserve)},
                                {"growth_bytes_per_s", growth}}};
    }
  }
  return alarm;
}

}  // namespace plimsoll::monitor
