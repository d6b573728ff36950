#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/estimator/live_profile.h"
#include "policy/scheduler/curve_recorder.h"
#include "policy/scheduler/eta.h"
#include "policy/scheduler/kinds.h"
#include "policy/scheduler/scheduler.h"
#include "policy/scheduler/stopwatch.h"

// The inside of the scheduler, shared by its source files alone.
namespace plimsoll::policy {

// An estimate is made anew when so much more running time has passed, and at least
// kEstimateAge of what had passed before; or when memory has changed by kEstimateChange of the
// estimate. In between it says little that is new: hours into a job, the next second is no news.
inline constexpr Duration kEstimateGap = std::chrono::milliseconds(100);
inline constexpr double kEstimateChange = 1.0 / 64;
inline constexpr double kEstimateAge = 1.0 / 512;

// So many jobs are told of, begin to wait or end unstarted in one turn; the rest follow in the next
// turns. At some 10 us each the thread is away for 10 ms, however many there are at once.
inline constexpr std::size_t kJobsPerTurn = 1000;
// After so long: others of the loop have their turn in between.
inline constexpr Duration kBehindGap = std::chrono::milliseconds(1);

class Scheduler::State {
 public:
  State(SchedulerConfig config, Estimator& estimator, SchedulerListener listener);

  // One attempt that runs.
  struct Live {
    Live(unsigned number, Instant now) : attempt(number), watch(now) {}

    unsigned attempt;
    Stopwatch watch;
    LiveProfile live_profile;
    CurveRecorder course;
    Estimate estimate;
    Belief admitted_with;      // of its peak, when it was admitted
    Duration estimated_ran{};  // running time and bytes that the estimate was made at
    Bytes estimated_used{};
    Showing showing;                  // that the estimator knows of
    std::optional<Instant> deadline;  // its place in deadlines_
    bool dying = false;               // the executor was asked to kill it
  };

  // What is remembered of a job until it has ended.
  struct Book {
    std::string name;
    int priority = 0;
    bool restartable = true;
    Tenant tenant = kHost;
    Key key;
    JobFacts facts;
    Kind kind{};
    unsigned lost = 0;
    bool waits = false;  // for the governor
    Instant waits_since{};
    bool held = false;  // counted as held in this wait
    std::unique_ptr<Live> live;
  };

  void enter(const JobSpec& job, std::optional<Bytes> input);
  void begin(Executor& executor);
  void turn();
  void on_wake();

  void on_job(JobId job, const JobSample& sample);
  void on_machine(const MachineSample& sample);
  void on_over(JobId job, const AttemptEnd& end);
  void on_alarm(const Alarm& alarm);

  Result<Live*> running(JobId job);
  Result<void> kill(JobId job, const std::string& reason);
  Result<void> withdraw(JobId job, const std::string& reason);
  void set_share(const Share& share, std::string reason);
  void tell_share();
  [[nodiscard]] bool is_over() const { return queue_.unfinished() == 0 && unended_.empty(); }
  [[nodiscard]] SchedulerStatus status() const;
  [[nodiscard]] std::optional<Duration> remaining() const;
  [[nodiscard]] WorkLeft work_left() const;

  SchedulerConfig config_;
  Estimator& estimator_;
  SchedulerListener listener_;
  Executor* executor_ = nullptr;  // from begin() on
  Queue queue_;
  Governor governor_;
  std::string share_reason_;  // empty: as configured
  Kinds kinds_;
  Counts counts_;
  Calibration calibration_;

 private:
  [[nodiscard]] Instant now() const { return executor_->now(); }
  void tell(EventKind kind, std::optional<JobId> job, std::string reason, Numbers numbers = {},
            std::optional<HoldCause> hold = {});
  void note(std::vector<QueueDecision> decisions);
  void catch_up();
  [[nodiscard]] bool is_behind() const {
    return !untold_.empty() || !arriving_.empty() || !unended_.empty();
  }
  void wait_for_governor(JobId job, Book& book);
  void stop_waiting(JobId job, Book& book);
  void enter_governor(JobId job, Book& book);
  void take_kinds_anew(const Key& key);
  void take_kinds_anew();
  void carry_out(const Decision& decision);
  void start(JobId job);
  void freeze(JobId job);
  void thaw(JobId job);
  void kill(JobId job, Outcome cause, const std::string& reason);
  void forget(JobId job);
  void end_unstarted(JobId job, const std::string& reason, bool gave_up);
  void show(const Book& book, Live& live, const Showing& now);
  void learn(const Book& book, const Live& live, const AttemptEnd& end);
  void tell_holding();
  void set_deadline(JobId job, Live& live);
  void pass_deadlines();
  void follow_timeouts();
  void set_wake(bool stale);

  std::unordered_map<JobId, Book> books_;  // of jobs that have not ended
  // What catch_up() has still to do, in this order.
  std::deque<JobId> untold_;                         // of the run from its beginning
  std::deque<JobId> arriving_;                       // ready, and the governor does not know yet
  std::deque<QueueDecision> unended_;                // ended for the queue, unstarted
  std::optional<Instant> resume_at_;                 // when it goes on, if it was too much
  std::set<std::pair<Instant, JobId>> deadlines_;    // of attempts that are not frozen
  std::optional<std::pair<JobId, HoldCause>> held_;  // told last
  std::optional<Instant> alarmed_;                   // told last
  std::vector<JobId> unsorted_;                      // may be of another kind by now
  RunProgress progress_;
};

}  // namespace plimsoll::policy
