#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kernel/counters/usage.h"
#include "report/json_text.h"

// What a job and the machine have used, as BuildKit's provenance has it of a build step
// (docs/formats/buildkit.md). Pure.
namespace plimsoll::report {

// BuildKit never keeps more than so many samples of a step and of a build; what reads them may rely
// on it.
inline constexpr std::size_t kBuildkitSamplesMax = 10;
inline constexpr std::size_t kBuildkitSystemSamplesMax = 20;

// The object `resourceUsage`. The last sample has the totals of the attempt, those before it were
// taken while it ran: the first, and of each stretch of time the one with the most memory. Where
// the samples were not kept there is one, made of the totals; where nothing was measured none.
// `machine` is what the CPUs of the machine were busy with meanwhile.
Json buildkit_usage(const counters::JobUsage& usage,
                    const std::optional<counters::SystemSample::Cpu>& machine);

// The list `sysUsage`. The first and the last sample, and of each stretch of time between them the
// one with the least memory available.
Json buildkit_system_usage(const std::vector<counters::SystemSample>& samples);

// Both in one document, for a single command.
struct BuildkitReport {
  counters::JobUsage usage;
  std::optional<counters::SystemSample::Cpu> machine{};
  std::vector<counters::SystemSample> system;
};
[[nodiscard]] std::string to_buildkit_json(const BuildkitReport& report);

}  // namespace plimsoll::report
