#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/pausable_clock.h"
#include "base/units.h"
#include "policy/estimator/estimator.h"
#include "policy/estimator/live_profile.h"
#include "policy/governor/governor.h"
#include "policy/job/attempt.h"
#include "policy/job/observation.h"
#include "policy/scheduler/curve_recorder.h"

// What the scheduler remembers of a job.
namespace plimsoll::policy {

// An estimate is made anew when so much more running time has passed, and at least
// kEstimateAge of what had passed before; or when memory has changed by kEstimateChange of the
// estimate. In between it says little that is new: hours into a job, the next second is no news.
inline constexpr Duration kEstimateGap = std::chrono::milliseconds(100);
inline constexpr double kEstimateChange = 1.0 / 64;
inline constexpr double kEstimateAge = 1.0 / 512;

// One attempt that runs.
struct RunningAttempt {
  RunningAttempt(unsigned attempt, Instant now) : number(attempt), clock(now) {}

  // Whether a look shows so much that is new that the estimate is to be made anew.
  [[nodiscard]] bool has_news(const JobSample& sample) const {
    const double change = std::abs(to_double(sample.used) - to_double(estimated_used));
    const auto share = std::chrono::duration_cast<Duration>(estimated_ran * kEstimateAge);
    return sample.ran >= estimated_ran + std::max(kEstimateGap, share) ||
           estimated_ran == Duration{} || change > estimate.peak.mean * kEstimateChange;
  }

  unsigned number;
  PausableClock clock;
  LiveProfile live_profile;
  CurveRecorder curve;
  Estimate estimate;
  Belief admitted_with;      // of its peak, when it was admitted
  Duration estimated_ran{};  // running time and bytes that the estimate was made at
  Bytes estimated_used{};
  Showing showing;                  // that the estimator knows of
  std::optional<Instant> deadline;  // of its time-out; absent while it is frozen or dies
  std::string paused_reason;        // while it is frozen
  std::optional<Bytes> written;     // so far, as JobSample has it
  bool is_dying = false;            // the executor was asked to kill it
  bool is_disregarded = false;      // it shows nothing of its kind
  std::size_t commands = 0;         // of it, that wait or run
  // It has begun commands, and is taken to begin others until then if there are none.
  std::optional<Instant> waits_until;
};

// Of a step of a build only its parent knows how it has exited.
[[nodiscard]] inline bool ended_by_itself(const AttemptEnd& end) {
  return succeeded(end) || (end.outcome == Outcome::exited && !end.exit_code);
}

// The attempt that a command is of.
struct CommandOf {
  JobId job{};
  unsigned attempt = 0;
};

// What is remembered of a job until it has ended.
struct JobRecord {
  Key key;
  JobFacts facts;
  Ready ready;                       // as the governor knows it
  bool was_held = false;             // counted as held in this wait
  std::string capped_as;             // the class whose place it has or waits for; empty: none
  std::optional<CommandOf> part_of;  // of a command whose job runs
  std::unique_ptr<RunningAttempt> attempt;  // while one runs
};

using JobRecords = std::unordered_map<JobId, JobRecord>;  // of jobs that have not ended

}  // namespace plimsoll::policy
