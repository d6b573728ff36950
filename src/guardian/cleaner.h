#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "guardian/protocol.h"

namespace plimsoll::guardian {

// Reaps what was handed over last: the run's tree of groups, or in process mode its families. Works
// without a loop: it waits in the kernel.
class Cleaner {
 public:
  void take(HandOver tree) {
    tree_ = std::move(tree);
    families_.reset();
  }
  void take(HandOverFamilies families) { families_ = std::move(families); }
  // `mains`: the children that have not been waited for.
  void clean(const std::vector<pid_t>& mains);
  // The tree that was handed over last.
  [[nodiscard]] const HandOver& tree() const { return tree_; }

 private:
  void clean_tree();
  void clean_families(const std::vector<pid_t>& mains);

  std::optional<HandOverFamilies> families_;
  HandOver tree_;
};

// A process that was ended, or could not be.
struct Orphan {
  pid_t pid = 0;
  std::string comm;
  bool lives = false;
};

// Kills and waits for all children, and for what comes to this process, their subreaper, as they
// die: what adoptions.h has not ended. Blocks until none is left or
// `deadline` has come. Children that end meanwhile by themselves are not told.
std::vector<Orphan> end_orphans(Instant deadline, Instant (*clock)());

}  // namespace plimsoll::guardian
