#pragma once

#include <optional>
#include <string>

#include "base/unique_fd.h"
#include "kernel/counters/machine_span.h"
#include "policy/scheduler/scheduler.h"
#include "supervisor/attempt.h"

namespace plimsoll::supervisor {

// One attempt of a job of this run.
struct AttemptKey {
  JobId job{};
  unsigned attempt = 1;
  auto operator<=>(const AttemptKey&) const = default;
};

// What is to be started, or why it can't be.
struct Prepared {
  AttemptRequest request;
  UniqueFd out, err;                   // open until the request is on its way
  std::optional<std::string> refusal;  // then the attempt ends at once, `failed_to_start`
};

// An attempt whose group is removed.
struct AttemptGone {
  AttemptKey key;
  const AttemptResult& result;
  counters::MachineUsage machine;  // what the whole machine was busy with meanwhile
};

// Whose job it is: asked what an attempt runs, and told how it goes. Called from within calls of
// the host scheduler, which must not be called back; the last call for a job is its end
// (on_job_over() without a requeue) or, if one of its groups stands longer, the on_gone() of that.
class JobOwner {
 public:
  virtual ~JobOwner() = default;
  // Not of an external job.
  virtual Prepared prepare(const policy::Start& start) = 0;
  // What was decided about the job, and what became of it.
  virtual void on_event(const policy::Event& /*event*/) {}
  // An attempt is over and its memory is back; before on_job_over().
  virtual void on_over(AttemptKey /*key*/) {}
  // The job has ended, or another attempt follows.
  virtual void on_job_over(const policy::JobOver& over) = 0;
  virtual void on_gone(const AttemptGone& gone) = 0;
  // Killed processes do not end; again from time to time.
  virtual void on_stuck(AttemptKey key, const reap::Stuck& stuck) = 0;
};

}  // namespace plimsoll::supervisor
