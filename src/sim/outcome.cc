#include "sim/outcome.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
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

std::vector<Unfinished> unfinished_of(const SimulatedExecutor& executor,
                                      std::span<const SimJob> jobs) {
  std::vector<Unfinished> unfinished;
  for (const SimJob& job : jobs) {
    if (executor.is_done(job.spec.id)) continue;
    unfinished.push_back({.id = job.spec.name, .peak_mb = job.curve.peak_mib()});
  }
  std::sort(unfinished.begin(), unfinished.end(), [](const auto& a, const auto& b) {
    return a.peak_mb != b.peak_mb ? a.peak_mb > b.peak_mb : a.id < b.id;
  });
  return unfinished;
}

// One line for each that is named: whether it could have.
std::string unfinished_text(const Outcome& outcome) {
  std::string text;
  if (!(outcome.lower_bound_s <= to_seconds(kSimulatedMax))) {
    text += "  not simulated: together they take more than the " +
            std::to_string(kSimulatedDaysMax) + " days after which a simulation ends\n";
  }
  for (const Unfinished& job : outcome.unfinished) {
    text += "  " + job.id + ": " +
            (job.peak_mb > outcome.line_mb ? "cannot run: it needs " : "it needs ") +
            format_bytes(from_mib(job.peak_mb)) +
            (job.peak_mb > outcome.line_mb ? ", more than the line" : "") + "\n";
  }
  if (outcome.unfinished_count > outcome.unfinished.size()) {
    text +=
        "  and " + std::to_string(outcome.unfinished_count - outcome.unfinished.size()) + " more\n";
  }
  return text;
}

double share_of(double part, double whole) { return whole > 0 ? part / whole : 0; }

nlohmann::ordered_json json_of(const Outcome& outcome) {
  return {{"policy", outcome.policy},
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
}

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

Outcome outcome_of(std::string policy, const SimulatedExecutor& executor,
                   std::span<const SimJob> jobs, const MachineConfig& machine) {
  const Tally tally = executor.tally();
  const double makespan = to_seconds(tally.last_end);
  std::vector<Unfinished> unfinished = unfinished_of(executor, jobs);
  const std::size_t unfinished_count = unfinished.size();
  if (unfinished_count > kUnfinishedNamedMax) unfinished.resize(kUnfinishedNamedMax);
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
          .lower_bound_s = lower_bound_seconds(jobs, machine),
          .unfinished = std::move(unfinished),
          .unfinished_count = unfinished_count};
}

std::string to_json(const Outcome& outcome) {
  nlohmann::ordered_json object = json_of(outcome);
  if (!outcome.finished) {
    object["unfinished"] = nlohmann::ordered_json::array();
    for (const Unfinished& job : outcome.unfinished) {
      object["unfinished"].push_back({{"id", job.id}, {"peak_mb", job.peak_mb}});
    }
  }
  return object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

void put_members(const Outcome& outcome, std::initializer_list<const char*> names,
                 nlohmann::ordered_json& object) {
  const nlohmann::ordered_json all = json_of(outcome);
  for (const char* name : names) {
    const auto found = all.find(name);
    PLIMSOLL_CHECK(found != all.end());
    object[name] = *found;
  }
}

std::string to_text(const Outcome& outcome) {
  const double slower = share_of(outcome.makespan_s, outcome.lower_bound_s);
  const std::array<std::pair<const char*, std::string>, 9> lines = {{
      {"policy", outcome.policy},
      {"jobs", std::to_string(outcome.jobs) +
                   (outcome.finished ? ""
                                     : ", of which " + std::to_string(outcome.unfinished_count) +
                                           " did not finish:")},
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
    if (std::string_view(label) == "jobs" && !outcome.finished) text += unfinished_text(outcome);
  }
  return text;
}

}  // namespace plimsoll::sim
