#include "sim/outcome.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/quantity.h"
#include "sim/quantities.h"

namespace plimsoll::sim {
namespace {

// Text for people: figures of this precision are read at a glance.
std::string percent(double share) {
  constexpr double kPercent = 100;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%", share * kPercent);
  return text.data();
}

std::string times(double factor) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f x", factor);
  return text.data();
}

std::string time_text(double seconds) { return format_duration(to_duration(seconds)); }

double share_of(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

double lower_bound_seconds(std::span<const SimJob> jobs, const MachineConfig& machine) {
  double cpu_seconds = 0;
  double mib_seconds = 0;
  double longest = 0;
  for (const SimJob& job : jobs) {
    cpu_seconds += job.curve.cpu_seconds();
    mib_seconds += job.curve.mib_seconds();
    longest = std::max(longest, job.curve.seconds());
  }
  return std::max({cpu_seconds / machine.cores, mib_seconds / to_mib(machine.line), longest});
}

Outcome outcome_of(std::string policy, const SimulatedWorld& world, std::span<const SimJob> jobs,
                   const MachineConfig& machine) {
  const Tally tally = world.tally();
  const double makespan = to_seconds(tally.last_end);
  return {.policy = std::move(policy),
          .finished = tally.done == jobs.size(),
          .jobs = jobs.size(),
          .makespan_s = makespan,
          .oom_kills = tally.oom_kills,
          .evictions = tally.evictions,
          .pauses = tally.pauses,
          .lost_s = tally.lost_cpu_seconds,
          .used_peak_mb = tally.used_peak_mib,
          .line_mb = to_mib(machine.line),
          .cpu_utilisation = share_of(tally.cpu_seconds, machine.cores * makespan),
          .memory_utilisation = share_of(tally.mib_seconds, to_mib(machine.line) * makespan),
          .lower_bound_s = lower_bound_seconds(jobs, machine)};
}

std::string to_json(const Outcome& outcome) {
  const nlohmann::ordered_json object = {{"policy", outcome.policy},
                                         {"finished", outcome.finished},
                                         {"jobs", outcome.jobs},
                                         {"makespan_s", outcome.makespan_s},
                                         {"oom_kills", outcome.oom_kills},
                                         {"evictions", outcome.evictions},
                                         {"pauses", outcome.pauses},
                                         {"lost_s", outcome.lost_s},
                                         {"used_peak_mb", outcome.used_peak_mb},
                                         {"line_mb", outcome.line_mb},
                                         {"cpu_utilisation", outcome.cpu_utilisation},
                                         {"memory_utilisation", outcome.memory_utilisation},
                                         {"lower_bound_s", outcome.lower_bound_s}};
  return object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string to_text(const Outcome& outcome) {
  const double slower = share_of(outcome.makespan_s, outcome.lower_bound_s);
  const std::array<std::pair<const char*, std::string>, 9> lines = {{
      {"policy", outcome.policy},
      {"jobs", std::to_string(outcome.jobs) + (outcome.finished ? "" : ", not all finished")},
      {"makespan", time_text(outcome.makespan_s) + ", " + times(slower) + " the lower bound of " +
                       time_text(outcome.lower_bound_s)},
      {"kernel kills", std::to_string(outcome.oom_kills)},
      {"evictions", std::to_string(outcome.evictions)},
      {"pauses", std::to_string(outcome.pauses)},
      {"lost", outcome.lost_s > 0 ? time_text(outcome.lost_s) + " of CPU time" : "nothing"},
      {"memory", percent(outcome.memory_utilisation) + " of the line used, peak " +
                     format_bytes(from_mib(outcome.used_peak_mb)) + " of " +
                     format_bytes(from_mib(outcome.line_mb))},
      {"cpu", percent(outcome.cpu_utilisation) + " of the cores used"},
  }};
  std::string text;
  for (const auto& [label, value] : lines) {
    std::array<char, 32> start{};
    std::snprintf(start.data(), start.size(), "%-14s", label);
    text += start.data() + value + "\n";
  }
  return text;
}

}  // namespace plimsoll::sim
