#pragma once

#include <optional>

#include "base/result.h"
#include "kernel/cgroup/directory.h"
#include "kernel/cgroup/group.h"
#include "kernel/cgroup/hierarchies.h"

// What a run gets against the rest of the machine. The kernel weighs a group as a whole: what its
// processes' nice values say counts among themselves alone.
namespace plimsoll::cgroup {

// What the caller of a run has among the processes beside it.
struct CallerShare {
  int nice = 0;  // nice(2)
  // Of its session, which the kernel weighs as a whole (sched(7), "The autogroup feature"). Nothing
  // where it does not: it is off, or the caller's group is not the root of the hierarchy.
  std::optional<int> session_nice;

  // As a factor: 1 at nice 0, a quarter more or less for each step, 15/1024 at nice 19. The
  // kernel's own numbers.
  [[nodiscard]] double factor() const;
};

// Reads it for this process.
CallerShare caller_share(const Hierarchies& hierarchies);

// What was asked for; each from 1 to 10000, and kWeightDefault (limits.h) where nobody has.
struct RunWeight {
  std::optional<unsigned> run;  // --weight: of CPU time, and of I/O where the kernel has weights
  // Of the job of a run that has no other: weighed against others it is where the run is.
  std::optional<unsigned> cpu, io;

  [[nodiscard]] double of_cpu(const CallerShare& caller) const;
  [[nodiscard]] double of_io() const;
};

// Gives a run's group its weights. What was asked for and can't be had is an error; what only
// follows from the caller's nice value is done as far as the host can.
Result<void> weigh_run(const Group& run, const RunWeight& weight, const CallerShare& caller);

// Gives each of made_groups() the CPU weight of the heaviest group in it, as what is in it can have
// no more than that: once a run has its weight, and when one has gone, by whoever has removed it.
// Where that can't be read or written it stays as it is, and so does a group of another user, who
// could have marked it himself. What others do at the same time is heeded.
void weigh_made(const Directory& base);

}  // namespace plimsoll::cgroup
