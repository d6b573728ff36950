#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/summary.h"
#include "store/runs/event_log.h"
#include "store/runs/run_dir.h"

// What `plimsoll explain` tells people of a recorded run, as text that ends with a newline. Text
// from outside can't control the terminal.
namespace plimsoll::report {

// Of pauses, and of evictions, so many are listed; one job's story has them all. One screen.
inline constexpr std::size_t kDecisionsListedMax = 20;

// The run in short, what held it for how long, its pauses, evictions and failures for memory.
[[nodiscard]] std::string explain_run(const RunEntry& run, const std::vector<RecordedEvent>& events,
                                      const TextStyle& style);

// Which run it is: its id, what became of it, its command, and what its record lacks.
[[nodiscard]] std::string run_heading(const RunEntry& run, const TextStyle& style);

// The events of one job, in order: by its id, else by its number in the order of input.
[[nodiscard]] std::vector<RecordedEvent> events_of(const std::vector<RecordedEvent>& events,
                                                   std::string_view job);

// What the numbers of these events mean: a line for each number that they have. Nothing if they
// have none.
[[nodiscard]] std::string numbers_legend(const std::vector<RecordedEvent>& events,
                                         const TextStyle& style);

// One job's whole story, with the numbers that each decision rested on; `end` if its report is
// there.
[[nodiscard]] std::string explain_job(const RunEntry& run, const std::vector<RecordedEvent>& events,
                                      const std::optional<JobBrief>& end, const TextStyle& style);

}  // namespace plimsoll::report
