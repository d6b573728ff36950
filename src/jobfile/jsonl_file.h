#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/job/job.h"

namespace plimsoll::jobfile {

// The jobs of a JSON lines file: one object a line (docs/formats/job-files.md). Blank lines are
// passed over. `needs` may name jobs that come later in the file. The first error found is
// returned, with file and line.
[[nodiscard]] Result<std::vector<policy::JobSpec>> parse_jsonl_jobs(
    std::string_view text, std::string_view file, const policy::JobSpec& defaults);

}  // namespace plimsoll::jobfile
