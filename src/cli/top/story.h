#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace plimsoll::cli::top {

struct StoryPlace {
  std::string runs_dir;  // where runs are recorded
  std::string run;       // id
  std::size_t width = 80;
};

// What the record of a run tells of a job up to now, as `plimsoll explain` does: the decisions and
// their numbers, as lines. A sentence where there is no record. Reads files.
[[nodiscard]] std::string story_of(const StoryPlace& place, std::string_view job);

}  // namespace plimsoll::cli::top
