#include "kernel/monitor/alarms.h"

#include <utility>

#include "base/quantity.h"

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
              .reason = is_hard ? "the jobs together have met their hard limit"
                                : "the kernel slows the jobs down at the line",
              .numbers = {{"high_events", static_cast<double>(rise.high)},
                          {"max_events", static_cast<double>(rise.max)},
                          {"oom_events", static_cast<double>(rise.oom)},
                          {"line_bytes", to_double(reading.bounds.line)}}};
  if (reading.used) {
    alarm.numbers.emplace_back("used_bytes", static_cast<double>(reading.used->count));
  }
  return alarm;
}

std::optional<Alarm> LevelAlarm::observe(const Reading& reading, double growth) {
  const Bytes line = reading.bounds.line;
  const Bytes relief{line.count / kReliefParts};
  std::optional<Alarm> alarm;
  if (reading.used) {
    if (*reading.used + relief < line) pool_told_ = false;
    if (*reading.used >= line && !pool_told_) {
      pool_told_ = true;
      alarm = Alarm{.monitor = "threshold",
                    .reason = "the jobs have " + format_bytes(*reading.used) + ", the line is " +
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
                              " left, its reserve is " + format_bytes(reserve),
                    .numbers = {{"available_bytes", to_double(*reading.available)},
                                {"reserve_bytes", to_double(reserve)},
                                {"growth_bytes_per_s", growth}}};
    }
  }
  return alarm;
}

namespace {}  // namespace

std::optional<Alarm> StallAlarm::observe(Instant at, Duration stalled) {
  if (last_ && at - last_->at < kStallSpan) return std::nullopt;
  const auto before = std::exchange(last_, Seen{at, stalled});
  if (!before || stalled < before->stalled) {
    since_.reset();
    return std::nullopt;
  }
  const double share = to_seconds(stalled - before->stalled) / to_seconds(at - before->at);
  if (share < kStallShare) since_.reset();
  if (share < kStallShare / 2) told_ = false;
  if (share < kStallShare || told_) return std::nullopt;
  if (!since_) since_ = before;
  const Duration lasted = at - since_->at;
  if (lasted < kStallLasts) return std::nullopt;
  told_ = true;
  const Duration sum = stalled - since_->stalled;
  return Alarm{.monitor = "pressure",
               .reason = "somebody waited for memory for " + format_duration(sum) +
                         " of the last " + format_duration(lasted),
               .numbers = {{"stalled_s", to_seconds(sum)}, {"within_s", to_seconds(lasted)}}};
}

}  // namespace plimsoll::monitor
