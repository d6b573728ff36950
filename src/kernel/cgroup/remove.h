#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "kernel/cgroup/directory.h"
#include "kernel/cgroup/group.h"

namespace plimsoll::cgroup {

enum class Removal : std::uint8_t {
  done,  // nothing of it is left; it makes no difference who removed it
  busy,  // not yet: a process lives there or is just leaving, or there was more than one call takes
};

// Directories that one call removes at most, in each hierarchy: it holds kernel locks some 20 us
// for each. A job that made more is removed in several calls.
inline constexpr std::size_t kRemovalsMax = 10'000;

// Whether a removal has failed of what no waiting changes: no permission, a read-only mount.
bool is_final(const Error& error);

// Removes the child group `name` of `parent` and everything below it, however deep, from the bottom
// up. Empty groups go even where a sibling is busy. Errors are the kernel's.
//
// rmdir waits for locks of the kernel, for milliseconds now and then: not on the supervisor's
// thread.
Result<Removal> remove_tree(const Directory& parent, const std::string& name);

// Removes a group in each of its hierarchies, each on its own: one that is busy or fails leaves
// none of the others behind. The first error is returned after all were tried. A group of the same
// name that was made since is left alone.
Result<Removal> remove_group(const Group& group);

}  // namespace plimsoll::cgroup
