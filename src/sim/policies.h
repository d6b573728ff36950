#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "policy/scheduler/executor.h"
#include "sim/backlog.h"
#include "sim/curves.h"
#include "sim/fit_jobs.h"
#include "sim/simulated_executor.h"

// The policies that a simulation can be run with, by the names that people give.
namespace plimsoll::sim {

struct GovernorPolicy {};  // `plimsoll`: whoever has the governor makes its driver
struct FixedPolicy {       // `fixed:N`
  std::size_t jobs_max = 1;
};
struct MemfreePolicy {  // `memfree:SIZE`
  Bytes free_min;
};
struct FitPolicy {  // `fit:best`, `fit:first`, `fit:dot`
  FitJobs::Rule rule = FitJobs::Rule::first;
};
struct ClairvoyantPolicy {  // `clairvoyant`, `clairvoyant:class`
  Backlog::By by = Backlog::By::length;
};
using Policy =
    std::variant<GovernorPolicy, FixedPolicy, MemfreePolicy, FitPolicy, ClairvoyantPolicy>;

// A policy by its name; a size may be a share of `line`.
[[nodiscard]] Result<Policy> parse_policy(std::string_view text, Bytes line);

// How the machine is under this policy. The governor has its wall at the line and sees samples;
// under the others, which know nothing of a pool, the kernel kills at the line, and nobody looks.
[[nodiscard]] MachineConfig machine_for(const Policy& policy, MachineConfig machine);

// What drives `executor` by a policy that is not the governor's. `line` and `cores` are what it
// plans with; executor and jobs must outlive it.
[[nodiscard]] std::unique_ptr<policy::ExecutorObserver> make_baseline(const Policy& policy,
                                                                      SimulatedExecutor& executor,
                                                                      std::span<const SimJob> jobs,
                                                                      const MachineConfig& machine);

}  // namespace plimsoll::sim
