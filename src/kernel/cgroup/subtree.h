#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/cgroup/directory.h"

namespace plimsoll::cgroup {

// Whether a group has children, as far as one fstat(2) tells: the link count of a cgroup directory
// is that of its children and two. False if it surely has none.
inline bool may_have_children(const Directory& directory) {
  struct stat status{};
  return ::fstat(directory.fd(), &status) == 0 && status.st_nlink != 2;
}

// Goes through the groups below one group, each child after the other, as deep as they are: a job
// may nest groups as it likes. Only the group that it stands in is open; the way up is "..". Groups
// that vanish meanwhile are passed over.
class SubtreeWalk {
 public:
  enum class Step : std::uint8_t {
    found,    // here() has the child name(); pass_over() leaves it out
    entered,  // here() is that child
    left,     // here() is the parent again, all below its child name() has been seen
    ended,
  };

  // The children of `top` are found first.
  explicit SubtreeWalk(const Directory& top);

  Step next();
  void pass_over() { at_ = Step::left; }

  [[nodiscard]] const Directory& here() const { return *here_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  // The first thing that kept a group from being entered or listed, if there was any.
  [[nodiscard]] const Result<void>& trouble() const { return trouble_; }

 private:
  // One group on the way down, and those of its children that have not been found yet.
  struct Level {
    std::string name;  // of the top: nothing
    std::vector<std::string> children;
  };

  Step enter();
  Step leave();
  void list(std::string name);
  bool go_up();
  void note(Error error);

  Result<Directory> top_;
  Result<Directory> here_;
  std::vector<Level> levels_;
  std::string name_;
  Step at_ = Step::entered;
  Result<void> trouble_{};
};

// Calls `visit(const Directory&)` for `top` and every group below it, parents first. Groups that
// vanish meanwhile are passed over. Anything else that keeps a group from being listed is an error,
// returned after all the others were visited.
template <class Visit>
Result<void> visit_subtree(const Directory& top, const Visit& visit) {
  visit(top);
  if (!may_have_children(top)) return {};
  SubtreeWalk walk(top);
  for (auto step = walk.next(); step != SubtreeWalk::Step::ended; step = walk.next()) {
    if (step == SubtreeWalk::Step::entered) visit(walk.here());
  }
  return walk.trouble();
}

}  // namespace plimsoll::cgroup
