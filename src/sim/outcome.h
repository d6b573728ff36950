#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "sim/curves.h"
#include "sim/simulated_executor.h"

namespace plimsoll::sim {

// A job that did not come to its end.
struct Unfinished {
  std::string id;
  double peak_mb = 0;  // of its curve
};

// So many of them are named.
inline constexpr std::size_t kUnfinishedNamedMax = 10;

// What came of a simulation, with the names that `plimsoll simulate --json` gives.
struct Outcome {
  std::string policy;
  bool finished = false;  // every job has exited by itself
  std::size_t jobs = 0;
  double makespan_s = 0;  // until the last attempt was over
  std::uint64_t oom_kills = 0;
  std::uint64_t evictions = 0;
  std::uint64_t pauses = 0;
  double lost_s = 0;  // CPU time of attempts that came to nothing
  double used_peak_mb = 0;
  double line_mb = 0;
  double cpu_utilisation = 0;     // CPU time of all attempts / (cores x makespan)
  double memory_utilisation = 0;  // memory integral of all attempts / (line x makespan)
  double lower_bound_s = 0;
  std::vector<Unfinished> unfinished{};  // those that need most first; the first of them
  std::size_t unfinished_count = 0;
};

// What no policy can beat: the greatest of CPU work / cores, longest job, memory integral / line.
[[nodiscard]] double lower_bound_seconds(std::span<const SimJob> jobs,
                                         const MachineConfig& machine);

// Of an executor that has been run.
[[nodiscard]] Outcome outcome_of(std::string policy, const SimulatedExecutor& executor,
                                 std::span<const SimJob> jobs, const MachineConfig& machine);

// One JSON object and a newline.
[[nodiscard]] std::string to_json(const Outcome& outcome);

// Puts those members of that object into another, in this order. Each name must be one of them.
void put_members(const Outcome& outcome, std::initializer_list<const char*> names,
                 nlohmann::ordered_json& object);

// For people: labelled lines, and which jobs did not finish and why.
[[nodiscard]] std::string to_text(const Outcome& outcome);

}  // namespace plimsoll::sim
