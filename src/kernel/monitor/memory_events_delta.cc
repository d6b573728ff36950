#include "kernel/monitor/memory_events_delta.h"

namespace plimsoll::monitor {
namespace {

std::uint64_t rise_of(const std::optional<std::uint64_t>& before,
                      const std::optional<std::uint64_t>& now) {
  return before && now && *now > *before ? *now - *before : 0;
}

}  // namespace

std::optional<MemoryEventsDelta> rise_between(const counters::MemoryEvents& before,
                                              const counters::MemoryEvents& now) {
  const MemoryEventsDelta rise{.high = rise_of(before.high, now.high),
                               .max = rise_of(before.max, now.max),
                               .oom = rise_of(before.oom, now.oom)};
  return rise == MemoryEventsDelta{} ? std::nullopt : std::optional(rise);
}

std::optional<Alarm> alarm_of(const MemoryEventsDelta& rise, const Reading& reading) {
  const bool is_hard = rise.max > 0 || rise.oom > 0;
  if (!is_hard && !is_near(reading)) return std::nullopt;
  Alarm alarm{.monitor = "event",
              .reason = is_hard ? "all jobs together have reached the hard limit"
                                : "the kernel is slowing the jobs down at the line",
              .numbers = {{"high_events", static_cast<double>(rise.high)},
                          {"max_events", static_cast<double>(rise.max)},
                          {"oom_events", static_cast<double>(rise.oom)},
                          {"line_bytes", to_double(reading.bounds.line)}}};
  if (reading.used) {
    alarm.numbers.emplace_back("used_bytes", static_cast<double>(reading.used->count));
  }
  return alarm;
}

}  // namespace plimsoll::monitor
