#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/units.h"
#include "policy/job/attempt.h"
#include "policy/job/decision.h"
#include "policy/job/job.h"
#include "policy/queue/halt.h"
#include "policy/queue/timeout.h"

namespace plimsoll::policy {

// How long a job waits before it is tried again.

// The first wait: long enough for a lock to be released or a server to come back, short beside most
// jobs. A guess.
inline constexpr Duration kBackoffFirst = std::chrono::seconds(1);
// The longest wait: what does not work after minutes is not helped by waiting for hours.
inline constexpr Duration kBackoffMax = std::chrono::minutes(1);

// The wait after a job's `n`th attempt that is to be repeated, n from 1: it doubles each time, up
// to kBackoffMax.
constexpr Duration backoff_after(unsigned n) {
  Duration wait = kBackoffFirst;
  for (unsigned i = 1; i < n && wait < kBackoffMax; ++i) wait *= 2;
  return std::min(wait, kBackoffMax);
}

// The numbers 1, 2, 3, ... for jobs that run at the same time (`{%}` of a command template); the
// lowest free one is taken first, so n jobs at once never see a number above n.
class Slots {
 public:
  unsigned take() {
    if (free_.empty()) return ++highest_;
    const unsigned slot = free_.top();
    free_.pop();
    return slot;
  }
  // `slot` was taken and not given back since.
  void give_back(unsigned slot) {
    PLIMSOLL_CHECK(slot >= 1 && slot <= highest_);
    free_.push(slot);
  }

 private:
  // Each of 1..highest_ is either in free_ or taken.
  unsigned highest_ = 0;
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> free_;
};

// An attempt that starts. `attempt` counts from 1; `slot` is of 1..jobs_max, or beyond where one
// that is awaited had no place, and taken by no other running job; 0 of a command.
struct Start {
  JobId job{};
  unsigned attempt = 1;
  unsigned slot = 1;
  // What it was admitted with; absent where nobody has reckoned.
  std::optional<Bytes> admitted_with{};
  bool operator==(const Start&) const = default;
};

// The attempt is over but its job is not: it starts again no sooner than `not_before`.
struct Requeue {
  Instant not_before{};
  std::string reason;
};

// How often a job that was evicted or lost to a machine out of memory is started again without
// that counting as one of its `retries`: these were not its own failures, yet what is killed every
// time must come to an end. One more than the governor's bound on evictions, after which a job runs
// with the right of way.
inline constexpr unsigned kLostAttemptsMax = 4;

// What a queue keeps of a job that has ended: its end, for jobs that need it and may be entered
// later; or nothing, and no job may need another. For a queue that is never done.
enum class Ended : std::uint8_t { remembered, forgotten };

struct QueueConfig {
  unsigned jobs_max = 1;  // so many run at once; at least 1
  Duration delay{};       // at least so long from one start to the next
  std::optional<HaltPolicy> halt{};
  TimeoutPolicy timeout{};  // of jobs that have none of their own
  Ended ended = Ended::remembered;
};

// The jobs of one run, from their entry to their end.
//
// Jobs are ready as soon as everything they need has succeeded, and so many run at once as
// QueueConfig::jobs_max allows. Which of the ready ones start is for somebody else to say
// (take_ready(), start()). A job ends exactly once: by a leave() that returns nothing, or by a Skip
// or GiveUp of settle().
//
// Commands of jobs (JobSpec::part_of) take neither places nor slots, and have no time-out but that
// of their job; a halt does not count them, and they may start for as long as their jobs may end.
// One for which all that run may be waiting (JobSpec::may_be_awaited) may start without a place.
//
// Pure: it knows the time only as a parameter, which never goes back. Each call is O(log n) in the
// number of jobs known, plus what it returns, plus the `needs` that it resolves.
class Queue {
 public:
  explicit Queue(QueueConfig config);

  // A new job. Its id is new to this queue; everything that it needs is entered too, sooner or
  // later, and nothing needs itself, directly or through others.
  void enter(const JobSpec& job);

  // The attempt of a running job is over. Nothing: so is the job. Tried again are an exit code
  // other than 0, a signal and a time-out, up to the job's `retries` times with a growing wait
  // between; and what was evicted or lost to a machine out of memory, if the job is restartable, up
  // to JobSpec::restarts times besides.
  [[nodiscard]] std::optional<Requeue> leave(JobId job, const AttemptEnd& end, Instant now);

  // What is to be cancelled and what ends unstarted; jobs whose wait is over become ready. Call it
  // after every enter(), leave(), interrupt() and set_jobs_max() (once after several will do), and
  // at next_wake().
  [[nodiscard]] std::vector<Decision> settle(Instant now);
  // The jobs that became ready since the last call and still are. Whatever settle() ends of them is
  // ready no longer.
  [[nodiscard]] std::vector<JobId> take_ready();
  // So many jobs may start now, and commands besides: within jobs_max, the delay between starts and
  // a stop.
  [[nodiscard]] unsigned room(Instant now) const;
  // A ready job starts; room() is not 0, unless it is a command.
  [[nodiscard]] Start start(JobId job, Instant now);

  // When the next job may start or be ready if nothing else happens before; may have passed
  // already. Nothing: only one of the calls named at settle() brings more. Ask after settle().
  [[nodiscard]] std::optional<Instant> next_wake() const;

  // This job, which waits, is not wanted any more: the next settle() ends it.
  void withdraw(JobId job, std::string reason);
  // Whether the job waits, for whatever: it is known and does not run.
  [[nodiscard]] bool is_waiting(JobId job) const;

  // Ctrl-C. The first time no more jobs will start, and the running ones may end; the second time
  // these are cancelled.
  void interrupt();
  [[nodiscard]] bool is_interrupted() const { return is_interrupted_; }

  // Whether no more jobs will start, by interrupt() or a halt.
  [[nodiscard]] bool is_stopping() const { return stop_.has_value(); }

  // Set once by the halt, whatever stops the run besides.
  [[nodiscard]] const std::optional<Halted>& halted() const { return halted_; }

  // Another bound on the jobs at once, at least 1. A lower one cancels nothing.
  void set_jobs_max(unsigned jobs_max);

  // How long an attempt of this unfinished job may take, as far as is known now: its own time-out,
  // else the run's. One that follows the median can change with every leave().
  [[nodiscard]] std::optional<Duration> timeout_of(JobId job) const;
  // The share of the median that this is, if it is one.
  [[nodiscard]] std::optional<MedianPercent> median_share_of(JobId job) const;

  [[nodiscard]] std::size_t running() const { return running_.size(); }
  [[nodiscard]] std::size_t unfinished() const { return jobs_.size(); }
  [[nodiscard]] std::size_t commands() const { return commands_; }  // of the unfinished

 private:
  enum class State : std::uint8_t {
    needing,  // something it needs has not succeeded yet
    doomed,   // something it needs never will: in doomed_
    ready,    // counted in ready_, if it is no command
    backoff,  // in backoff_
    running,  // in running_
  };

  struct Job {
    std::string name;
    unsigned retries = 0;
    unsigned restarts = kLostAttemptsMax;
    std::optional<Duration> timeout;
    std::size_t needs_left = 0;
    State state = State::needing;
    unsigned attempts = 0;  // started
    unsigned failures = 0;  // attempts that count against `retries`
    unsigned lost = 0;      // attempts that count against `restarts`
    unsigned slot = 0;      // while running
    bool cancelled = false;
    bool is_command = false;
    bool may_be_awaited = false;
  };

  // What is still to be known of a job that has ended, for those that need it.
  enum class End : std::uint8_t { succeeded, failed, skipped };
  struct Past {
    std::string name;
    End end{};
    std::string why;  // failed: the rest of a sentence about the job; skipped: a sentence
  };

  struct Stop {
    Urgency urgency{};
    std::string reason;
  };

  Job& find(JobId job);
  void make_ready(JobId id, Job& job);
  void doom(JobId id, JobId failed_need);
  void end_job(JobId id, End end, std::string why);
  [[nodiscard]] std::optional<Requeue> requeue(Job& job, const AttemptEnd& end, Instant now) const;
  void count_ended(const AttemptEnd& attempt);
  void skip_doomed(std::vector<Decision>& decisions);
  void end_withdrawn(std::vector<Decision>& decisions);
  void end_waiting(JobId id, const std::string& reason, std::vector<Decision>& decisions);
  void cancel_running(std::vector<Decision>& decisions);
  void end_unstarted(std::vector<Decision>& decisions);
  void wake_waiting(Instant now);

  QueueConfig config_;
  std::map<JobId, Job> jobs_;  // that have not ended, in order of input
  std::unordered_map<JobId, Past> ended_;
  std::unordered_map<JobId, std::vector<JobId>> dependents_;  // of jobs that have not ended
  std::vector<std::pair<JobId, JobId>> doomed_;               // a job, and the need that failed it
  std::size_t commands_ = 0;
  std::size_t running_jobs_ = 0;                          // without commands
  std::size_t ready_ = 0;                                 // likewise
  std::vector<std::pair<JobId, std::string>> withdrawn_;  // with the reason
  std::vector<JobId> fresh_;  // became ready since the last take_ready()
  std::set<std::pair<Instant, JobId>> backoff_;
  std::set<JobId> running_;
  Slots slots_;
  RunningMedian succeeded_wall_;
  Tally tally_;
  std::optional<Instant> last_start_;
  std::optional<Stop> stop_;
  bool is_interrupted_ = false;  // once, at least
  std::optional<Halted> halted_;
};

}  // namespace plimsoll::policy
