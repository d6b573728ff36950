#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "jobfile/draft.h"

namespace plimsoll::jobfile {

// Turns the names in `needs` into ids, each once. Errors, at the line of the job in `file`: two
// jobs of one name, a need that is no job's name, a circle of needs (told by its names). O(jobs +
// needs).
[[nodiscard]] Result<void> resolve_needs(std::vector<Draft>& drafts, std::string_view file);

}  // namespace plimsoll::jobfile
