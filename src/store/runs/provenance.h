#pragma once

#include <string>
#include <vector>

#include "kernel/counters/usage.h"
#include "store/runs/recorded_job.h"
#include "store/runs/run_dir.h"

namespace plimsoll::report {

// A recorded run as an in-toto statement with SLSA provenance (v1), in which usage lies where
// BuildKit's provenance has it (docs/formats/buildkit.md): each of `jobs`, in the order given, is a
// step with its command, its end and its `resourceUsage`; `system` becomes `sysUsage`. Ends with a
// newline. Valid JSON in UTF-8 whatever the texts hold.
[[nodiscard]] std::string provenance_text(const RunEntry& run, const std::vector<RecordedJob>& jobs,
                                          const std::vector<counters::SystemSample>& system);

}  // namespace plimsoll::report
