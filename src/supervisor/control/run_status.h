#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/loop/lag.h"
#include "base/units.h"
#include "policy/job/job.h"
#include "policy/scheduler/scheduler.h"
#include "report/shared_text.h"
#include "supervisor/sharing/lease.h"

namespace plimsoll::supervisor {

// Jobs of a run by what has become of them. A daemon counts those alone that have not ended.
struct JobCounts {
  std::size_t total = 0, succeeded = 0, failed = 0, skipped = 0;
  std::size_t running = 0, paused = 0, waiting = 0;  // waiting: for their start
};

// A job that has begun and is not over. Without cores_estimate, which does not cross a socket.
struct RunningJob : policy::JobStatus {
  std::string name;      // the user's, else the number
  std::string command;   // as one line; any bytes, cut at kCommandShownMax
  std::string distinct;  // what of it the run's other commands do not have; likewise
};

// Why nothing starts although something could.
struct HoldingStatus {
  JobId job{};
  std::string name;
  std::string reason;  // a sentence
  std::vector<std::pair<std::string, double>> numbers;
};

// How well a daemon's loop keeps up.
struct LoopStatus {
  loop::LagFigures lag{};
  Duration longest_turn{};
};

// A run at one moment, whole: what the display draws and what `plimsoll ctl status` answers. It
// borrows nothing, so that it can cross a socket.
struct RunStatus {
  std::string run;  // id
  Duration elapsed{};
  JobCounts jobs{};
  Bytes line{}, used{};             // of the pool; a line of 0 means that there is none
  std::optional<Bytes> estimate{};  // that the jobs that run may reach, as believed
  double cores = 0;                 // that the run may use
  double cores_used = 0;
  std::optional<double> cores_wanted{};     // as believed, by the jobs that run
  policy::StallShares stall{};              // of the last moments
  std::optional<double> cores_of_others{};  // that other programs use; absent: not known
  unsigned jobs_max = 0;
  policy::Counts counts{};
  std::optional<HoldingStatus> holding{};
  std::optional<Duration> remaining{};  // of the whole run, as far as anything is known of it
  std::optional<Others> others{};       // of a daemon: who has a lease of its line
  std::optional<LoopStatus> loop{};     // of a daemon
  std::vector<RunningJob> running{};    // paused ones too, oldest first
};

// A command in a status, and its own part, is cut here: with a thousand jobs it stays a quarter of
// a megabyte.
inline constexpr std::size_t kCommandShownMax = 200;

// What of a run the scheduler does not know.
struct RunFacts {
  std::string run;
  Duration elapsed{};
  JobCounts ended;  // total, succeeded, failed, skipped; the rest is the scheduler's
  const report::SharedText& commands;  // of all jobs
};

// What the jobs of a scheduler are.
class JobSpecs {
 public:
  JobSpecs() = default;
  JobSpecs(const JobSpecs&) = delete;
  JobSpecs& operator=(const JobSpecs&) = delete;
  virtual ~JobSpecs() = default;
  [[nodiscard]] virtual const policy::JobSpec& spec_of(JobId job) const = 0;
};

// The status of a run as its scheduler has it, with the names that people gave.
[[nodiscard]] RunStatus run_status(const policy::SchedulerStatus& scheduler, const RunFacts& facts,
                                   const JobSpecs& specs);

// The job that people mean by `text`: the one of this name, else of this number. An error says that
// there is none.
[[nodiscard]] Result<JobId> find_job(const std::vector<policy::JobSpec>& jobs,
                                     std::string_view text);

}  // namespace plimsoll::supervisor
