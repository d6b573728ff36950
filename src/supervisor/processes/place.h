#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "kernel/procfs/parse.h"
#include "supervisor/processes/process_set.h"

namespace plimsoll::supervisor {

// Those that live below a process come with it or not. Whoever has a place of its own stays there.
enum class Below : std::uint8_t { stay, come };

// A process that somebody else has started.
struct Newcomer {
  int pid = 0;
  UniqueFd pidfd;  // of the same: by the time it is taken in its number may be another's
  Below below = Below::stay;
  std::set<procfs::Id> apart{};  // these stay where they are with all that live below them
};

// A place that stands before an attempt has it as its process set: for a command that is yet to be
// spawned, or for processes that somebody else has started: a cgroup, or where none can be made a
// family of processes. All places of a run are of the same kind.
//
// From the loop's thread. Destroying it leaves whoever lives there, not held any more.
class Place {
 public:
  Place() = default;
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  virtual ~Place() = default;

  // Unique in the run.
  [[nodiscard]] virtual const std::string& name() const = 0;

  // `done` is called at once or from the loop; gone() if the process has ended.
  virtual void take_in(Newcomer process, std::function<void(const Result<void>&)> done) = 0;
  // A process lives here by its parents, which need not be seen any more by the next look.
  virtual void has_seen(const procfs::Id& /*process*/) {}
  // All that live here go into `other`, as far as they are found; then `done`, as above.
  virtual void move_all(const std::shared_ptr<const Place>& other, std::function<void()> done) = 0;

  [[nodiscard]] virtual bool has(int pid) const = 0;
  [[nodiscard]] virtual bool is_populated() const = 0;  // true where that can't be told

  // Stops whoever lives here where they stand, until let_go(); false: they can't be. Where a
  // process stands in a system call it goes on to its end.
  virtual bool hold() = 0;
  // Whether all that are held stand by now. Stops those that were continued by somebody else.
  [[nodiscard]] virtual bool keep_held() = 0;
  virtual void let_go() = 0;

  // Whoever lives here is killed, where it is held too. Who forks meanwhile may leave a child.
  virtual void kill() = 0;

  // A parent that waits for stopped children (WUNTRACED of waitpid(2)), as a shell with job control
  // does, takes one that stands here for one that its user has stopped.
  [[nodiscard]] virtual bool stops_are_seen() const = 0;
  // From now on nothing stops those that live here, for such a parent's sake; freeze() of the
  // process set does nothing then.
  virtual void exempt() {}

  // The process set of an attempt, made once; the place may go or stay then. What of it is held
  // stays so.
  [[nodiscard]] virtual std::unique_ptr<ProcessSet> process_set(ProcessSetObserver& observer) = 0;
  // In place of that: nobody needs it. Whoever lives there ends with the run.
  virtual void remove() = 0;
};

}  // namespace plimsoll::supervisor
