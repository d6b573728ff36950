#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/job/job.h"

namespace plimsoll::jobfile {

// A job of a JSON lines file while the file is read: `needs` are still names.
struct Draft {
  policy::JobSpec spec;
  std::vector<std::string> needs;
  std::size_t line = 1;
};

// Turns the names in `needs` into ids, each once. Errors, at the line of the job in `file`: two
// jobs of one name, a need that is no job's name, a circle of needs (told by its names). O(jobs +
// needs).
[[nodiscard]] Result<void> resolve_needs(std::vector<Draft>& drafts, std::string_view file);

}  // namespace plimsoll::jobfile
