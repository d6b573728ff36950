#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "jobfile/joblog.h"
#include "policy/job/job.h"

namespace plimsoll::jobfile {

// Which jobs a run that goes on from a job log starts.
enum class Resume : std::uint8_t {
  unfinished,             // --resume: those that are not in the log
  unfinished_and_failed,  // --resume-failed: and those that failed
  failed,                 // --retry-failed: only those that failed
};

// What a job log leaves of a run.
struct JobsLeft {
  std::vector<policy::JobSpec> jobs;  // to be run, in order
  std::size_t logged = 0;             // jobs of the run that are in the log
  std::size_t failed = 0;             // of these, those that failed
  std::size_t strange = 0;            // lines of the log that are no job's of the run
};

// What a job log leaves of `jobs`, entry by entry. A job whose command no other job has is in the
// log if a line has its command; of several jobs with the same command one is if a line has its
// number as well. Its last such line counts, and it failed if Exitval or Signal is not 0 there.
// Whatever the rule says, a job that has not succeeded runs if a job to be run needs it, directly
// or through others. Needs that have succeeded are taken out of `needs`, so all that remain name
// jobs of the result. `jobs` is complete: every need is in it. O(jobs + needs + entries).
class Remainder {
 public:
  explicit Remainder(std::vector<policy::JobSpec> jobs);

  void add(const JoblogEntry& entry);
  [[nodiscard]] JobsLeft left(Resume rule) &&;

 private:
  enum class Past : std::uint8_t { none, succeeded, failed };

  [[nodiscard]] static bool starts(Past past, Resume rule);
  [[nodiscard]] std::vector<char> to_run(Resume rule) const;

  std::vector<policy::JobSpec> jobs_;
  std::vector<Past> pasts_;                                // of each job
  std::unordered_map<JobId, std::size_t> places_;          // in `jobs_`
  std::unordered_map<std::string, std::size_t> commands_;  // likewise, or that there are several
  std::size_t strange_ = 0;
};

}  // namespace plimsoll::jobfile
