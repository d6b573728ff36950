#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/batch_files.h"
#include "cli/batch_options.h"
#include "cli/command/run_memory.h"
#include "cli/progress/display.h"
#include "cli/synced_ends.h"
#include "report/top_jobs.h"
#include "supervisor/control/control.h"
#include "supervisor/light/command_service.h"
#include "supervisor/light/small_commands.h"
#include "supervisor/run/batch_run.h"
#include "supervisor/sharing/lease.h"

namespace plimsoll::cli {

// A run of `plimsoll batch` with all that is around it: the display, what is remembered of earlier
// runs and recorded of this one, the files that the user asked for, the sockets for `plimsoll ctl`
// and for `plimsoll exec` in its jobs, and the share of the line beside other runs. What fails of
// these is told; the run goes on.
class GovernedRun : private supervisor::BatchRunObserver,
                    private supervisor::ControlTarget,
                    private supervisor::CommandsOwner,
                    private ShownRun,
                    private EndsFile {
 public:
  // `machine` and `options` must outlive this.
  GovernedRun(supervisor::Supervisor& supervisor, const BatchOptions& options, BatchFiles files,
              supervisor::BatchRunConfig config, std::vector<std::string> command_line);
  ~GovernedRun() override;

  // Returns the exit status. Once.
  Result<int> run();

 private:
  Result<void> start_display();
  [[nodiscard]] report::RunStart run_start() const;
  [[nodiscard]] Result<void> on_ready() override;
  void on_progress(const supervisor::Progress& progress) override;
  void on_ended(const policy::JobSpec& job, const report::JobReport& report,
                Bytes received) override;
  void on_attempt_over(JobId job) override;
  void on_learnt(const policy::AttemptSummary& what) override;
  void on_stopping() override;
  void on_resumed() override;
  void on_event(const policy::Event& event) override;
  void on_notice(const std::string& text) override;
  [[nodiscard]] supervisor::RunStatus status() const override;
  [[nodiscard]] const policy::JobSpec& spec_of(JobId job) const override;
  [[nodiscard]] Result<void> force() override { return files_.force(); }
  void on_force_failed(const Error& error) override;
  [[nodiscard]] Result<JobId> find(std::string_view job) const override;
  Result<void> pause(JobId job) override;
  Result<void> resume(JobId job) override;
  Result<void> kill(JobId job) override;
  Result<Bytes> set_line(std::string_view size) override;
  Result<void> set_jobs_max(unsigned jobs) override;
  Result<void> lease();
  Result<void> start_control();
  JobId next_job_id() override { return batch_->next_job_id(); }
  [[nodiscard]] Result<const policy::JobSpec*> job_of(int pid) override;
  [[nodiscard]] bool command_passes(const policy::JobSpec& command, int pid) override;
  void command_ended(const policy::JobSpec& /*command*/,
                     const supervisor::AttemptGone& gone) override {
    batch_->command_ended(gone.result);
  }
  void command_stuck(const std::string& name, const reap::Stuck& stuck) override;
  void serve_commands();
  [[nodiscard]] std::string light_socket() const;
  [[nodiscard]] const policy::JobSpec* command(const policy::Event& event) const;
  void trace(const policy::Event& event);
  void tell_end(const policy::JobSpec& job, const report::JobReport& report);
  void end_files();
  void print_end(const report::RunSummary& summary) const;

  supervisor::Supervisor& supervisor_;
  const BatchOptions& options_;
  BatchFiles files_;
  supervisor::BatchRunConfig config_;  // until it is the batch's
  std::vector<policy::JobSpec> jobs_;
  std::vector<std::string> command_line_;
  Instant begun_;
  std::string run_id_;
  policy::Share whole_;  // of the machine
  report::TopJobs top_jobs_;
  report::SharedText commands_;  // of jobs_
  std::unique_ptr<Display> display_;
  std::optional<SyncedEnds> synced_ends_;
  std::unique_ptr<RunMemory> memory_;
  std::unique_ptr<supervisor::BatchRun> batch_;
  std::unique_ptr<supervisor::SmallCommands> small_commands_;  // of `service_`
  std::unique_ptr<supervisor::CommandService> service_;        // null: jobs keep their commands
  std::optional<supervisor::SchedulerLeaseHolder> holder_;     // of the lease
  std::optional<supervisor::Lease> lease_;
  std::unique_ptr<supervisor::Control> control_;
};

}  // namespace plimsoll::cli
