#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "govern/drivers.h"
#include "govern/exec_watcher.h"
#include "govern/jobserver.h"
#include "govern/steps.h"
#include "policy/estimator/estimator.h"
#include "policy/scheduler/scheduler.h"
#include "report/report.h"
#include "supervisor/attempt.h"
#include "supervisor/host_scheduler.h"
#include "supervisor/run/guardian_watch.h"
#include "supervisor/run/signal_relay.h"
#include "supervisor/supervisor.h"

namespace plimsoll::govern {

struct GovernConfig {
  policy::JobSpec command;
  policy::SchedulerConfig scheduler;
  std::string run_id;
  std::vector<std::string> drivers;  // names beside those that are known
  // So often the command is started again when it has failed and a step of it was killed for want
  // of memory.
  unsigned reruns = 0;
  // Why the command is measured as a whole, if so: then nothing that it starts is a step.
  std::optional<std::string> why_whole;
  // Why execs can't be heard of, if so: then steps are found by looks at /proc (ExecWatcher).
  std::optional<std::string> why_unheard;
  // Its pipe is filled by the run; the command is told of it by its environment.
  std::optional<TokenPipe> jobserver;
  // The command and other drivers have memory and processor time before the steps, and are the
  // kernel's victims after them (`plimsoll session`).
  bool drivers_first = false;
  // The command's standard output, open until the run's end; nothing: that of this program.
  std::optional<int> standard_output;
  // Where launchers below the command (`plimsoll exec`) find the run. Empty: they don't.
  std::string light_socket;
};

// For the user: what takes the place of hearing, and why.
[[nodiscard]] std::string watching_text(const std::string& why);

// How it went.
struct GovernEnd {
  supervisor::AttemptResult command;  // its last execution
  report::RunSummary summary;         // of that and of the steps
};

class GovernObserver {
 public:
  GovernObserver() = default;
  GovernObserver(const GovernObserver&) = delete;
  GovernObserver& operator=(const GovernObserver&) = delete;
  virtual ~GovernObserver() = default;
  virtual void on_event(const policy::Event& /*event*/) {}
  virtual void on_learnt(const policy::AttemptSummary& /*what*/) {}
  virtual void on_step_ended(const policy::JobSpec& step, const report::JobReport& report) = 0;
  virtual void on_notice(const std::string& text) = 0;
};

// Runs a command that starts other commands, in the caller's session and process group, and governs
// those (Steps). The command and other drivers live in a group beside the pool. When the command
// has ended, so has everything below it.
class GovernRun : private supervisor::AttemptObserver,
                  private supervisor::SignalObserver,
                  private supervisor::HostSchedulerObserver,
                  private StepsObserver,
                  private TokenBasis {
 public:
  // All but `config` must outlive this.
  GovernRun(supervisor::Supervisor& supervisor, policy::Estimator& estimator, GovernConfig config,
            GovernObserver& observer);
  ~GovernRun() override;

  // Returns when all have ended and every group is removed. An error means that the guardian was
  // lost and everything was reaped. Once.
  Result<GovernEnd> run();

  // Launchers are heard from here on; before run(). Without this, and if it fails, they start what
  // they launch at once, as a step like any other.
  Result<void> hear_launchers();

  // For commands of the user's and for those who watch.
  [[nodiscard]] policy::Scheduler& scheduler() { return host_scheduler_.scheduler(); }
  [[nodiscard]] const policy::Scheduler& scheduler() const { return host_scheduler_.scheduler(); }
  [[nodiscard]] const policy::JobSpec* spec_of(JobId step) const { return steps_.spec_of(step); }
  [[nodiscard]] const StepCounts& counts() const { return steps_.counts(); }
  // Otherwise the command is measured as a whole.
  [[nodiscard]] bool has_steps() const { return !config_.why_whole; }

 private:
  void on_main_ended() override { still_running_ = steps_.running(); }
  void on_over(const policy::AttemptEnd& end) override;
  void on_gone(const supervisor::AttemptResult& result) override;
  void on_stuck(const reap::Stuck& stuck) override;
  void on_signal(const guardian::Signalled& signal) override;
  void on_resumed() override;
  void on_scheduler_event(const policy::Event& event) override { observer_.on_event(event); }
  void on_learnt(const policy::AttemptSummary& what) override { observer_.on_learnt(what); }
  void on_notice(const std::string& text) override { observer_.on_notice(text); }
  void on_step_ended(const policy::JobSpec& step, const report::JobReport& report) override;
  void on_blind(const Error& why) override;
  [[nodiscard]] bool is_command(int pid) const override;
  void on_missed(const std::vector<procfs::Id>& processes) override;
  [[nodiscard]] Slots slots() const override;
  [[nodiscard]] std::optional<std::size_t> token_holders() override;

  Result<void> find_execs(std::shared_ptr<supervisor::Place> drivers);
  Result<supervisor::AttemptResult> execute(unsigned number);
  Result<void> turn_until_gone();
  Result<supervisor::AttemptRequest> request(unsigned number);
  [[nodiscard]] bool is_to_run_again(const supervisor::AttemptResult& result) const;
  void count(const report::JobReport& report);
  [[nodiscard]] report::CommandReport report_of(const supervisor::AttemptResult& ended) const;

  supervisor::Supervisor& supervisor_;
  GovernConfig config_;
  GovernObserver& observer_;
  Drivers drivers_;
  supervisor::HostScheduler host_scheduler_;
  Steps steps_;
  supervisor::GuardianWatch guardian_watch_;
  std::optional<Jobserver> jobserver_;
  std::unique_ptr<ExecListener> listener_;  // of one execution
  std::unique_ptr<ExecWatcher> watcher_;    // of all
  std::unique_ptr<supervisor::Attempt> attempt_;
  std::optional<supervisor::SignalRelay> relay_;
  std::optional<supervisor::AttemptResult> result_;
  std::uint64_t killed_ = 0;  // steps of this execution, for want of memory
  std::uint64_t killed_in_all_ = 0;
  unsigned reruns_ = 0;
  std::vector<RunningStep> still_running_;  // when the command ended
  bool is_stopped_ = false;
  report::RunSummary summary_;
};

}  // namespace plimsoll::govern
