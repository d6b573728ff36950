#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/limits.h"
#include "base/loop/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "guardian/protocol.h"

namespace plimsoll::supervisor {

class ChildObserver;
class IpcWatch;
class OomWatch;
class ProcessSet;
class ProcessSetObserver;

// What one execution of a job needs of the machine that it runs on: clocks and timers, a place for
// its processes, the guardian's word about its child, evidence of who ran out of memory. The
// Supervisor is one; a test has a model of one, with simulated time.
class AttemptHost : public loop::Clock {
 public:
  // now() less what the guardian has held the pool for: the time that jobs had.
  [[nodiscard]] virtual Instant job_clock() const = 0;
  // When the loop's clock will show what the job clock shows at `when`, if nothing is held.
  [[nodiscard]] virtual Instant on_loop_clock(Instant when) const = 0;
  // Samples of attempts that were never taken, because the loop came too late.
  virtual void count_dropped_samples(std::uint64_t samples) = 0;

  // A new place for the processes of one attempt, with its limits set; `uid` is who they run as.
  // The observer must outlive it.
  [[nodiscard]] virtual Result<std::unique_ptr<ProcessSet>> make_process_set(
      const std::string& name, const Limits& limits, uid_t uid, ProcessSetObserver& observer) = 0;

  // Nobody lives any more in the group of this child, which has left others (Exited). What has got
  // out of the group is killed, and told within guardian::Adoptions::kPatience (on_escaped()).
  virtual void over(guardian::ChildId child, ChildObserver& observer) = 0;
  // Nothing of this child will be told any more.
  virtual void forget(guardian::ChildId child) = 0;

  // What this user makes of IPC from now on.
  [[nodiscard]] virtual std::unique_ptr<IpcWatch> watch_ipc(uid_t user) = 0;
  [[nodiscard]] virtual OomWatch& oom() = 0;
  // All that the machine has.
  [[nodiscard]] virtual Bytes memory() const = 0;
};

}  // namespace plimsoll::supervisor
