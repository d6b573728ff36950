#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "policy/estimator/calibration.h"
#include "policy/estimator/estimator.h"
#include "policy/governor/governor.h"
#include "policy/job/attempt.h"
#include "policy/job/event.h"
#include "policy/queue/queue.h"
#include "policy/scheduler/executor.h"

namespace plimsoll::policy {

struct SchedulerConfig {
  QueueConfig queue;        // jobs_max here is the one that counts
  GovernorConfig governor;  // jobs_max is taken from `queue`
  // Where jobs without a directory of their own run; empty: they are commands of no place.
  std::string directory{};
};

// How a job went on after its attempt was over, or without one.
struct JobOver {
  JobId job{};
  std::optional<AttemptEnd> end;   // of the attempt; absent: none ran (Skip, GiveUp)
  std::optional<Requeue> requeue;  // present: another attempt follows
  bool gave_up = false;            // it waited for another attempt and gets none
  std::string reason;
};

// What the scheduler tells; an empty function is not called. From within its own calls: what is
// called must not call back.
struct SchedulerListener {
  std::function<void(const Event&)> event;
  std::function<void(const JobOver&)> over;
  // What the estimator has just learnt from an attempt, for whoever stores it.
  std::function<void(const AttemptSummary&)> learnt{};
};

enum class JobState : std::uint8_t { running, frozen, waiting };

// A job that runs, or could.
struct JobStatus {
  JobId job{};
  JobState state{};
  unsigned attempt = 0;
  Duration ran{};                       // of this attempt, frozen time left out
  Duration frozen{};                    // of this attempt
  std::optional<Bytes> used{};          // absent until it was looked at
  std::optional<double> cores{};        // of late
  Bytes estimate{};                     // the most that it is believed to reach
  double cores_estimate = 0;            // that it is believed to use
  std::optional<Duration> remaining{};  // running time, as believed
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
  double cores = 0;
  std::optional<double> cores_of_others{};  // that other programs use of late
  unsigned jobs_max = 0;
  std::size_t running = 0, frozen = 0, waiting = 0, unfinished = 0;
  Counts counts;
  std::optional<Holding> holding;     // why the first waiting job waits
  std::optional<Duration> remaining;  // of the whole run, as far as anything is known of it
  std::vector<JobStatus> jobs;        // running and frozen ones, oldest first
};

// Conducts one run: joins the queue (needs, retries, halts, time-outs), the governor and the
// estimator to an executor, real or simulated. What happens comes in as an ExecutorObserver or as
// a command; what is to be done goes out to the executor before the call returns.
//
// One thread. Pure but for the executor that it calls.
class Scheduler : public ExecutorObserver {
 public:
  // `estimator` must outlive this; each end is learnt by it.
  Scheduler(SchedulerConfig config, Estimator& estimator, SchedulerListener listener);
  ~Scheduler() override;

  // A new job; before begin() or while the run goes on. As Queue::enter(). `input`: what it has to
  // read, if that is known.
  void enter(const JobSpec& job, std::optional<Bytes> input = {});
  // The run begins: `executor` must outlive the run; jobs start from here on.
  void begin(Executor& executor);
  // Whether every job has ended for good. What the executor still runs then is nothing.
  [[nodiscard]] bool is_over() const;

  void on_job(JobId job, const JobSample& sample) override;
  void on_machine(const MachineSample& sample) override;
  void on_over(JobId job, const AttemptEnd& end) override;
  // Recorded at most once each kAlarmGap. What is done about it follows from the looks.
  void on_alarm(const Alarm& alarm) override;
  void on_wake() override;

  // Memory that stands at the line alarms again and again.
  static constexpr Duration kAlarmGap = std::chrono::seconds(1);

  // Ctrl-C, as Queue::interrupt().
  void interrupt();
  [[nodiscard]] bool is_stopping() const;
  // Whether and how the halt policy has stopped the run.
  [[nodiscard]] const std::optional<Halted>& halted() const;
  // Of a job that runs; an error says that it does not.
  Result<void> pause(JobId job);
  Result<void> resume(JobId job);
  // Of a job that runs: its end is `cancelled`.
  Result<void> kill(JobId job, const std::string& reason);
  // Of a job that waits, after begin(): it ends without (another) attempt.
  Result<void> withdraw(JobId job, const std::string& reason);
  // Why the next job that could run waits; nothing: it would start, or none is there.
  [[nodiscard]] const std::optional<Holding>& holding() const;
  // What the run may plan with from now on, and why it is something else.
  void set_share(const Share& share, std::string reason);
  // The same with another line alone.
  void set_line(Bytes line, std::string reason);
  void set_jobs_max(unsigned jobs_max);
  [[nodiscard]] Bytes line() const;

  // O(jobs that have not ended).
  [[nodiscard]] SchedulerStatus status() const;
  [[nodiscard]] const Counts& counts() const;
  // How good the estimates were that attempts were admitted with.
  [[nodiscard]] const Calibration& calibration() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace plimsoll::policy
