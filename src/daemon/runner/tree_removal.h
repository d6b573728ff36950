#pragma once

#include <string>

#include "base/unique_fd.h"
#include "daemon/runner/file_turn.h"

// Removing what jobs leave in a directory, whatever its shape.
namespace plimsoll::daemon {

// What came of it: of the first thing that could not be removed.
struct TreeRemoval {
  int number = 0;      // its errno; 0: all is removed
  std::string path{};  // below the directory, in its own bytes; a long one without its beginning
};

// Such a path is shown to people.
inline constexpr std::size_t kPathShownMax = 200;
// So many names are left where they are, each tried once; then nothing more is tried.
inline constexpr std::size_t kLeftMax = 1000;
// Directories deeper than that are moved up to the top, and removed from there: what is remembered
// of the way down is some hundred bytes a level.
inline constexpr std::size_t kLevelsMax = 4096;

// Removes all that is below the directory, but not the directory. Directories that are closed to
// their owner are opened, what is mounted is unmounted, no link is followed. Holds three
// descriptors, however deep the tree is. Goes on after what it can't remove. Blocks, and takes a
// step of `turn` for each thing; once that was given up the errno is ECANCELED.
[[nodiscard]] TreeRemoval remove_contents(UniqueFd directory, FileTurn& turn);

}  // namespace plimsoll::daemon
