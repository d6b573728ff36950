#pragma once

#include <algorithm>

#include "base/units.h"
#include "policy/job/job.h"

namespace plimsoll::policy {

// The job with hints that the machine can follow. Of a larger one half is doubt that no calm of
// the job ever takes back, and everybody else would wait for what it can't have.
[[nodiscard]] inline JobSpec within_reach(JobSpec job, Bytes line, double cores) {
  if (job.memory_hint) job.memory_hint = std::min(*job.memory_hint, line);
  if (job.cpu_hint) job.cpu_hint = std::min(*job.cpu_hint, cores);
  return job;
}

}  // namespace plimsoll::policy
