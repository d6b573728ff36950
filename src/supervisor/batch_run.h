#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "report/report.h"
#include "supervisor/guardian_watch.h"
#include "supervisor/host_scheduler.h"
#include "supervisor/identity.h"
#include "supervisor/output/collector.h"

namespace plimsoll::supervisor {

struct BatchRunConfig {
  std::vector<policy::JobSpec> jobs;
  output::Config output;
  bool tag = false;  // put each job's arguments, or its name if it has none, before its lines
  policy::SchedulerConfig scheduler;
  Duration kill_after = std::chrono::seconds(5);  // as AttemptRequest's
  std::string run_id;
};

// How far a run is.
struct Progress {
  std::size_t jobs = 0, running = 0, succeeded = 0, failed = 0, skipped = 0;
};

// What a run tells while it goes on; from the loop's thread. An empty function is not called.
struct BatchRunObserver {
  // All is ready and no job has started yet: what replaces something of the user's is done here. An
  // error ends the run.
  std::function<Result<void>()> ready;
  std::function<void(const Progress&)> progress;
  // A job has ended for good; `received` is how many bytes it has written.
  std::function<void(const policy::JobSpec&, const report::JobReport&, Bytes received)> ended;
  // What an attempt has taught the estimator.
  std::function<void(const policy::AttemptSummary&)> learnt;
  // The terminal has stopped the run (Ctrl-Z): the last word before it stands still, and the first
  // after it goes on.
  std::function<void()> stopping, resumed;
  // What was decided and why, and what became of it.
  std::function<void(const policy::Event&)> event;
  // Something that people should know: a retry, a stuck process, a full disk.
  std::function<void(const std::string&)> notice;
};

// Runs many jobs to their ends on the real machine: a host scheduler runs them, and this keeps
// their output and their reports.
//
// Invariant between events: every attempt that was started stays in live_ until its group is
// removed and all its output received, when its job may be running again already.
class BatchRun : private JobOwner {
 public:
  // `machine` and `estimator` must outlive this.
  BatchRun(Supervisor& supervisor, policy::Estimator& estimator, BatchRunConfig config,
           BatchRunObserver observer);
  ~BatchRun() override;

  // Returns when every job has ended and every group is removed. An error means that the guardian
  // was lost and everything was reaped.
  Result<report::RunSummary> run();

  // No more jobs are started; called again, those that run are killed (Ctrl-C).
  void interrupt();

  // For commands of the user's and for those who watch.
  [[nodiscard]] policy::Scheduler& scheduler() { return host_scheduler_.scheduler(); }
  [[nodiscard]] const policy::JobSpec& spec_of(JobId job) const;
  [[nodiscard]] const Progress& progress() const { return progress_; }

 private:
  struct Live;
  struct Book;

  Prepared prepare(const policy::Start& start) override;
  void on_over(AttemptKey key) override;
  void on_job_over(const policy::JobOver& over) override;
  void on_gone(const AttemptGone& gone) override;
  void on_stuck(AttemptKey key, const reap::Stuck& stuck) override;

  void account_pool_limits();
  void give_up_on(JobId job);
  void discard_output_of(JobId job);
  void on_received(AttemptKey key, const output::Received& received);
  void settle(AttemptKey key);
  void account(const AttemptResult& result);
  void end_job(JobId job, policy::Outcome outcome, const std::string& reason, const Live* last);
  void on_output_lost(const output::Lost& lost);
  Result<void> start_collector();
  Result<output::Opened> open_output(const policy::JobSpec& job, unsigned attempt,
                                     const std::optional<guardian::Identity>& identity);
  void on_signal(const guardian::Signalled& signal);
  void pause_all();
  void resume_all();
  void tell_progress();
  void notice(const std::string& text);
  report::RunSummary summarise();

  Supervisor& supervisor_;
  BatchRunConfig config_;
  std::unordered_map<JobId, std::size_t> places_;  // of jobs in config_.jobs
  BatchRunObserver observer_;
  report::HostInfo host_;
  Instant begun_{};
  UniqueFd null_input_;
  HostScheduler host_scheduler_;
  std::unique_ptr<output::Collector> collector_;  // before the captures, which it must outlive
  std::map<AttemptKey, std::unique_ptr<Live>> live_;
  std::vector<std::unique_ptr<Live>> finished_;  // destroyed outside their own callbacks
  std::unordered_map<JobId, Book> books_;
  Accounts accounts_;
  bool is_stopped_ = false;  // by the terminal, with all jobs
  GuardianWatch guardian_watch_;
  Progress progress_;
  report::RunSummary summary_;
  bool drained_ = false;
};

}  // namespace plimsoll::supervisor
