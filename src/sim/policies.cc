#include "sim/policies.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/quantity.h"
#include "base/text.h"
#include "sim/baselines.h"

namespace plimsoll::sim {

Result<Policy> parse_policy(std::string_view text, Bytes line) {
  std::string_view rest = text;
  const std::string_view name = take_until(rest, ':');
  const bool has_value = name.size() < text.size();
  if (name == "plimsoll" && !has_value) return GovernorPolicy{};
  if (name == "clairvoyant" && !has_value) return ClairvoyantPolicy{};
  if (text == "clairvoyant:class") return ClairvoyantPolicy{Backlog::By::class_length};
  if (name == "fixed") {
    const auto jobs = to_u64(rest);
    if (!jobs || *jobs == 0) {
      return fail("found \"" + std::string(text) + "\", expected fixed:N with N of at least 1");
    }
    return FixedPolicy{static_cast<std::size_t>(*jobs)};
  }
  if (name == "memfree") {
    const auto size = parse_bytes_or_share(rest, line);
    if (!size) {
      return fail("found \"" + std::string(text) +
                  "\", expected memfree:SIZE such as memfree:4G or memfree:25%");
    }
    return MemfreePolicy{*size};
  }
  return fail("found \"" + std::string(text) +
              "\", expected plimsoll, fixed:N, memfree:SIZE, clairvoyant or clairvoyant:class");
}

MachineConfig machine_for(const Policy& policy, MachineConfig machine) {
  const bool governed = std::holds_alternative<GovernorPolicy>(policy);
  machine.wall = governed ? Wall::throttle : Wall::kill;
  machine.sampling = governed ? Sampling::jobs_and_machine : Sampling::none;
  // Who knows all knows how long a start will take, and has left no room for it to be otherwise.
  if (std::holds_alternative<ClairvoyantPolicy>(policy)) machine.noise = Noise::none;
  return machine;
}

std::unique_ptr<policy::ExecutorObserver> make_baseline(const Policy& policy,
                                                        SimulatedExecutor& executor,
                                                        std::span<const SimJob> jobs,
                                                        const MachineConfig& machine) {
  if (const auto* fixed = std::get_if<FixedPolicy>(&policy)) {
    return std::make_unique<FixedJobs>(executor, jobs, fixed->jobs_max);
  }
  if (const auto* memfree = std::get_if<MemfreePolicy>(&policy)) {
    const auto per_core = static_cast<std::size_t>(std::max(std::floor(machine.cores), 1.0));
    return std::make_unique<FreeMemory>(executor, jobs, machine.line, memfree->free_min, per_core);
  }
  const auto* clairvoyant = std::get_if<ClairvoyantPolicy>(&policy);
  PLIMSOLL_CHECK(clairvoyant != nullptr);
  return std::make_unique<Clairvoyant>(executor, jobs, machine.line, machine.cores,
                                       clairvoyant->by);
}

}  // namespace plimsoll::sim
