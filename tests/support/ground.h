#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "kernel/cgroup/group.h"
#include "kernel/cgroup/hierarchies.h"
#include "kernel/cgroup/kill.h"

namespace plimsoll::testing {

// As long as any wait of a host test may take on a loaded machine.
inline constexpr Duration kPatience = std::chrono::seconds(30);

// How the groups of a test are made on this host.
struct Way {
  std::string name;
  bool with_v2 = false;
  cgroup::ControllerSet controllers;
  cgroup::KillWay kill = cgroup::KillWay::best;
};

// A process that was started in a group: a program of tests/programs/ that has said "ready".
struct Started {
  int pid = 0;
  UniqueFd output;  // its stdout; closing it harms nobody who has said all
};

// Where tests make their groups: below the group that PLIMSOLL_CGROUP names, or at the root of a
// hierarchy where it names none. The path from that root, "" or "/GROUP/GROUP", and how many groups
// it has.
std::string base_path();
unsigned base_depth();
// The same in a hierarchy, with the controllers enabled there as far as the host lets us.
Result<cgroup::Directory> open_base(const cgroup::Hierarchy& hierarchy,
                                    cgroup::ControllerSet wanted);

// Removes what a test program that was killed has left there: groups that are named `prefix`-PID of
// a process that is gone.
void remove_stale(const cgroup::Directory& base, cgroup::ControllerSet controllers,
                  const std::string& prefix);

// A group of our own there in each hierarchy that a way needs, in which a test makes its own.
// The test's process is the subreaper of all that it starts, and ignores SIGCHLD from then on.
class Ground {
 public:
  // Its name is `prefix` and the pid, so that programs that run at once do not meet. The missing
  // hierarchy or right (Error) if this host can't have it.
  static Result<Ground> make(const Way& way, const std::string& prefix);

  // Removes the ground; what a failed test has left below goes first.
  ~Ground();
  Ground(Ground&&) noexcept = default;
  Ground& operator=(Ground&&) = delete;

  cgroup::Leaf leaf(const std::string& name);
  [[nodiscard]] const cgroup::Inner& inner() const { return inner_; }

  // The directories of the group `name` that are still there.
  [[nodiscard]] std::vector<std::string> left_of(const std::string& name) const;

 private:
  Ground(cgroup::Inner inner, cgroup::ControllerSet controllers)
      : inner_(std::move(inner)), controllers_(controllers) {}
  void clear() const;

  cgroup::Inner inner_;
  cgroup::ControllerSet controllers_;
};

// Starts a program in every part of the leaf; does not wait for its "ready".
Started start(const cgroup::Leaf& leaf, const std::vector<std::string>& command);

// Waits until a started program says "ready"; false after kPatience or if it ends without.
bool wait_ready(const Started& started);

// The clock that what waits is given.
Instant clock_now();

// Asks every millisecond until `holds()`; false after kPatience.
bool eventually(const std::function<bool()>& holds);

// Whether any process that was started on a ground, or one made by such a process, still lives.
bool has_children();

int open_descriptors();

}  // namespace plimsoll::testing
