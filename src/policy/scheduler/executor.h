#pragma once

#include <optional>
#include <string>

#include "base/units.h"
#include "policy/job/attempt.h"
#include "policy/job/decision.h"
#include "policy/job/observation.h"
#include "policy/queue/queue.h"

// Where decisions are carried out: the real machine, or a simulated one. The same scheduler runs
// on both, so that what the simulator proves is true of what runs.
namespace plimsoll::policy {

// What an executor tells. One thread; never called from within a call of Executor, so that whoever
// decides is not entered twice.
class ExecutorObserver {
 public:
  virtual ~ExecutorObserver() = default;
  // Often while a job runs, more often while it grows; not while it is frozen.
  virtual void on_job(JobId job, const JobSample& sample) = 0;
  // The last look at it, when nobody lives in it any more: on_over() follows.
  virtual void on_last_look(JobId job, const JobSample& sample) { on_job(job, sample); }
  // Regularly while anything runs.
  virtual void on_machine(const MachineSample& sample) = 0;
  // From time to time where the space of file systems is watched.
  virtual void on_disks(const DiskSample& /*sample*/) {}
  // The attempt is over and its memory is back. Exactly once for each start().
  virtual void on_over(JobId job, const AttemptEnd& end) = 0;
  // Memory has got where something must be done about it, as the machine itself tells: a sentence
  // and its numbers. Before the looks that it causes; who goes by those alone needs no more.
  virtual void on_alarm(const std::string& /*reason*/, const Numbers& /*numbers*/) {}
  // The instant of the last wake_at() has come.
  virtual void on_wake() = 0;
};

// The verbs are requests: none waits, what comes of them is told to the observer or shows in the
// samples. A request for a job that is over by now does nothing.
class Executor {
 public:
  virtual ~Executor() = default;
  [[nodiscard]] virtual Instant now() const = 0;
  virtual void start(const Start& start) = 0;
  // Stops the running job where it stands; its memory stays. Undone by thaw(), and by its end.
  virtual void freeze(JobId job) = 0;
  virtual void thaw(JobId job) = 0;
  // Pushes memory of a frozen job out to swap, or drops clean pages of the whole pool (no job).
  virtual void reclaim(std::optional<JobId> job, Bytes amount) = 0;
  // Kills the whole group; on_over() follows with `cause` as its outcome.
  virtual void kill(JobId job, Outcome cause, std::string reason) = 0;
  // Looks at all that run, as soon as that is of use: on_job() of each follows.
  virtual void look_soon() = 0;
  // on_wake() at `when`, in place of any instant asked for before; absent: not at all.
  virtual void wake_at(std::optional<Instant> when) = 0;
};

}  // namespace plimsoll::policy
