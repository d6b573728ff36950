#pragma once

#include <sys/stat.h>

#include <cstddef>

#include "base/result.h"
#include "cgroup/directory.h"

namespace plimsoll::cgroup {

// How deep below a group its own sub-groups are followed. Each level costs an open descriptor; the
// deepest trees in use (a container manager within a job) have about ten.
inline constexpr unsigned kSubtreeDepthMax = 64;

// Whether a group has children, as far as one fstat(2) tells: the link count of a cgroup directory
// is that of its children and two. False if it surely has none.
inline bool may_have_children(const Directory& directory) {
  struct stat status{};
  return ::fstat(directory.fd(), &status) == 0 && status.st_nlink != 2;
}

// Calls `visit(const Directory&)` for `top` and every group below it, parents first. Groups that
// vanish meanwhile are passed over. Anything else that keeps a group from being listed is an error,
// returned after all the others were visited; too deep (value_too_large) is one.
template <class Visit>
Result<void> visit_subtree(const Directory& top, const Visit& visit, unsigned depth = 0) {
  visit(top);
  if (!may_have_children(top)) return {};
  if (depth == kSubtreeDepthMax) {
    return fail(std::errc::value_too_large, "look below " + top.label());
  }
  auto names = top.children();
  if (!names) {
    if (names.error().gone()) return {};
    return pass(std::move(names));
  }
  Result<void> first{};
  for (const std::string& name : *names) {
    auto child = top.open_child(name);
    Result<void> visited{};
    if (child) {
      visited = visit_subtree(*child, visit, depth + 1);
    } else if (!child.error().gone()) {
      visited = pass(std::move(child));
    }
    if (!visited && first) first = std::move(visited);
  }
  return first;
}

}  // namespace plimsoll::cgroup
