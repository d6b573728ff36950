#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "policy/estimator/estimator.h"
#include "policy/governor/governor.h"
#include "policy/job/observation.h"
#include "policy/scheduler/eta.h"
#include "policy/scheduler/job_record.h"
#include "policy/scheduler/kinds.h"

// What a live display shows of a run.
namespace plimsoll::policy {

enum class JobState : std::uint8_t { running, frozen, waiting };

// Why a job is frozen. By the user goes before what the governor wants as well.
enum class PauseCause : std::uint8_t { memory, cores, space, user };

// A job that runs, or could.
struct JobStatus {
  JobId job{};
  JobState state{};
  unsigned attempt = 1;
  Duration ran{};                          // of this attempt, frozen time left out
  Duration frozen{};                       // of this attempt
  std::optional<Bytes> used{};             // absent until it was looked at
  std::optional<double> cores{};           // of late
  Bytes estimate{};                        // the most that it is believed to reach; 0: not known
  double cores_estimate = 0;               // that it is believed to use
  std::optional<Duration> remaining{};     // running time, as believed
  std::optional<double> growth{};          // bytes a second, of late; not negative; as `used`
  bool unsettled = false;                  // started without knowledge, its needs not yet shown
  std::optional<Bytes> io{};               // read and written so far; absent where nobody can tell
  std::optional<PauseCause> paused_for{};  // while it is frozen
  std::string reason{};                    // of that, a sentence
};

// The figures of a whole run so far.
struct Counts {
  std::uint64_t holds = 0;  // times that a job waited for the governor though it could have run
  std::uint64_t pauses = 0;
  std::uint64_t evictions = 0;
  std::uint64_t reclaims = 0;
  Duration lost_cpu{};  // CPU time of attempts that were thrown away
  Bytes used_peak{};    // of the pool
};

struct SchedulerStatus {
  Bytes line{}, used{};
  Bytes estimate{};  // the most that the jobs that run are believed to reach, each for itself
  double cores = 0;
  double cores_wanted = 0;                  // by the jobs that run, as believed
  StallShares stall{};                      // as of the last look at the machine
  std::optional<double> cores_of_others{};  // that other programs use of late
  unsigned jobs_max = 0;
  std::size_t running = 0, frozen = 0, waiting = 0;
  std::size_t sizeable = 0;         // of those that run or are frozen, without small ones
  std::optional<Instant> oldest{};  // when the oldest job started that the user has not paused
  // Without commands of jobs (JobSpec::part_of), which are in the three above.
  std::size_t unfinished = 0;
  Counts counts;
  std::optional<Holding> holding;     // why the first waiting job waits
  std::optional<Duration> remaining;  // of the whole run, as far as anything is known of it
  std::vector<JobStatus> jobs;        // running and frozen ones, oldest first
  std::vector<DiskStatus> disks{};    // whose space is watched
};

// The jobs that run and their attempts, oldest first.
[[nodiscard]] std::vector<JobStatus> job_statuses(const JobRecords& jobs, Instant now);

// What of a run is still to be done.
[[nodiscard]] WorkLeft work_left(const JobRecords& jobs, const Kinds& kinds,
                                 const Estimator& estimator, const Governor& governor, Instant now);

// How long a run will still take, as seconds_left(); nothing while nothing is known of it.
[[nodiscard]] std::optional<Duration> time_left(const WorkLeft& work, const RunProgress& progress);

}  // namespace plimsoll::policy
