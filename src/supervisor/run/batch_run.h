#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "report/report.h"
#include "supervisor/host_scheduler.h"
#include "supervisor/identity.h"
#include "supervisor/output/collector.h"
#include "supervisor/plain_command.h"
#include "supervisor/run/guardian_watch.h"

namespace plimsoll::supervisor {

struct BatchRunConfig {
  std::vector<policy::JobSpec> jobs;
  output::Config output;
  bool tag = false;  // put each job's arguments, or its name if it has none, before its lines
  policy::SchedulerConfig scheduler;
  Duration kill_after = std::chrono::seconds(5);  // as AttemptRequest's
  std::string run_id;
  // Set for each job, whatever else is.
  std::vector<std::pair<std::string, std::string>> environment{};
};

// How far a run is.
struct Progress {
  std::size_t jobs = 0, running = 0, succeeded = 0, failed = 0, skipped = 0;
};

// What a run tells while it goes on; from the loop's thread.
class BatchRunObserver {
 public:
  BatchRunObserver() = default;
  BatchRunObserver(const BatchRunObserver&) = delete;
  BatchRunObserver& operator=(const BatchRunObserver&) = delete;
  virtual ~BatchRunObserver() = default;

  // All is ready and no job has started yet: what replaces something of the user's is done here. An
  // error ends the run.
  [[nodiscard]] virtual Result<void> on_ready() { return {}; }
  virtual void on_progress(const Progress& /*progress*/) {}
  // A job has ended for good; `received` is how many bytes it has written.
  virtual void on_ended(const policy::JobSpec& job, const report::JobReport& report,
                        Bytes received) = 0;
  // An attempt of this job is over. Within a call of the scheduler's.
  virtual void on_attempt_over(JobId /*job*/) {}
  // What an attempt has taught the estimator.
  virtual void on_learnt(const policy::AttemptSummary& /*what*/) {}
  // The terminal has stopped the run (Ctrl-Z): the last word before it stands still, and the first
  // after it goes on.
  virtual void on_stopping() {}
  virtual void on_resumed() {}
  // What was decided and why, and what became of it.
  virtual void on_event(const policy::Event& /*event*/) {}
  // Something that people should know: a retry, a stuck process, a full disk.
  virtual void on_notice(const std::string& text) = 0;
};

// Runs many jobs to their ends on the real machine: a host scheduler runs them, and this keeps
// their output and their reports.
//
// Invariant between events: every attempt that was started is live in the record of its job until
// its group is removed and all its output received, when its job may be running again already. A
// job has ended when its last attempt has and none is live.
class BatchRun : private JobOwner,
                 private HostSchedulerObserver,
                 private SignalObserver,
                 private output::OutputObserver {
 public:
  // All but `config` must outlive this.
  BatchRun(RunHost& host, policy::Estimator& estimator, BatchRunConfig config,
           BatchRunObserver& observer);
  ~BatchRun() override;

  // Returns when every job has ended and every group is removed. An error means that the guardian
  // was lost and everything was reaped.
  Result<report::RunSummary> run();

  // No more jobs are started; called again, those that run are killed (Ctrl-C).
  void interrupt();

  // For commands of the user's and for those who watch.
  [[nodiscard]] policy::Scheduler& scheduler() { return host_scheduler_.scheduler(); }
  [[nodiscard]] const policy::JobSpec& spec_of(JobId job) const;
  // Null: the run has none of this number.
  [[nodiscard]] const policy::JobSpec* find_job(JobId job) const;
  [[nodiscard]] const Progress& progress() const { return progress_; }

  // For who has commands of these jobs governed by the same scheduler (JobSpec::part_of): a number
  // that no job has had, and what was used.
  [[nodiscard]] HostScheduler& host_scheduler() { return host_scheduler_; }
  [[nodiscard]] JobId next_job_id() { return JobId{++last_id_}; }
  void command_ended(const AttemptResult& result);
  // One was let go that is known to be small: what it uses is its job's.
  void command_passed();

 private:
  struct AttemptRecord;
  struct JobRecord;

  Prepared prepare(const policy::Start& start) override;
  void on_over(AttemptKey key) override {
    --progress_.running;
    observer_.on_attempt_over(key.job);
  }
  void on_job_over(const policy::JobOver& over) override;
  void on_gone(const AttemptGone& gone) override;
  void on_stuck(AttemptKey key, const reap::Stuck& stuck) override;
  void on_scheduler_event(const policy::Event& event) override { observer_.on_event(event); }
  void on_learnt(const policy::AttemptSummary& what) override { observer_.on_learnt(what); }
  void on_notice(const std::string& text) override { observer_.on_notice(text); }
  void on_signal(const guardian::Signalled& signal) override;
  void on_resumed() override;
  void on_received(const output::Ended& ended) override;
  void on_trouble(const output::Trouble& trouble) override;
  void on_lost(const output::Lost& lost) override;
  void on_drained() override { drained_ = true; }

  void give_up_on(JobId job);
  void discard_output_of(JobId job);
  void receive(AttemptKey key, const output::Received& received);
  void settle(AttemptKey key);
  void account(const AttemptResult& result);
  void end_if_over(JobId job);
  void end_job(JobId job, policy::Outcome outcome, const std::string& reason,
               const AttemptRecord* last);
  Result<void> start_collector();
  Result<output::Opened> open_output(const policy::JobSpec& job, unsigned attempt,
                                     const std::optional<guardian::Identity>& identity);
  void pause_all();
  void tell_progress();
  report::RunSummary summarise();

  RunHost& host_;
  BatchRunConfig config_;
  std::unordered_map<JobId, std::size_t> places_;  // of jobs in config_.jobs
  std::uint64_t last_id_ = 0;
  BatchRunObserver& observer_;
  report::HostInfo host_info_;
  Instant begun_{};
  UniqueFd null_input_;
  HostScheduler host_scheduler_;
  std::unique_ptr<output::Collector> collector_;  // before the captures, which it must outlive
  std::unordered_map<JobId, JobRecord> records_;  // of jobs that have not ended
  std::vector<std::unique_ptr<AttemptRecord>> finished_;  // destroyed outside their own callbacks
  std::size_t live_ = 0;                                  // attempts
  Accounts accounts_;
  bool is_stopped_ = false;  // by the terminal, with all jobs
  GuardianWatch guardian_watch_;
  PlainCommands plain_commands_;
  Progress progress_;
  report::RunSummary summary_;
  bool drained_ = false;
};

}  // namespace plimsoll::supervisor
