#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "jobs/joblog.h"
#include "policy/job.h"

namespace plimsoll::jobs {

// Which jobs a run that goes on from a job log starts.
enum class Resume : std::uint8_t {
  unfinished,             // --resume: those that are not in the log
  unfinished_and_failed,  // --resume-failed: and those that failed
  failed,                 // --retry-failed: only those that failed
};

// What is left of `jobs` to be run, in order. A job is in the log if an entry has its number and
// its command; its last such entry counts, and it failed if Exitval or Signal is not 0 there.
// Whatever `rule` says, a job that has not succeeded runs if a job to be run needs it, directly or
// through others. Needs that have succeeded are taken out of `needs`, so all that remain name jobs
// of the result. `jobs` is complete: every need is in it. O(jobs + needs + entries).
[[nodiscard]] std::vector<policy::JobSpec> jobs_left(std::vector<policy::JobSpec> jobs,
                                                     std::span<const JoblogEntry> log, Resume rule);

}  // namespace plimsoll::jobs
