#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command/report_lines.h"
#include "cli/command/run_memory.h"
#include "cli/govern/govern_options.h"
#include "cli/govern/progress_line.h"
#include "govern/govern_run.h"
#include "report/top_jobs.h"
#include "supervisor/control/control.h"
#include "supervisor/control/run_status.h"
#include "supervisor/sharing/lease.h"

namespace plimsoll::cli {

// Notices go to standard error at once: the command has the terminal, and nothing is drawn on it.
class PlainNotices : public Notices {
 public:
  void note(const std::string& text) override;
};

// A governed command with all that is around it: what is remembered of earlier runs and recorded of
// this one, the report that the user asked for, the sockets for `plimsoll ctl` and `plimsoll exec`,
// the share of the line beside other runs. What fails of these is told; the command goes on.
class GovernedCommand : private govern::GovernObserver,
                        private supervisor::ControlTarget,
                        private supervisor::JobSpecs {
 public:
  // `supervisor` and `options` must outlive this.
  GovernedCommand(supervisor::Supervisor& supervisor, const GovernOptions& options,
                  std::optional<report::OutputFile> report, govern::GovernConfig config,
                  const std::vector<std::string>& command_line);
  ~GovernedCommand() override;

  // The exit status. Once.
  Result<int> run();

 private:
  Result<void> lease();
  Result<void> start_control();
  void hear_launchers();
  void start_progress();
  [[nodiscard]] supervisor::RunStatus status() const override;
  [[nodiscard]] const policy::JobSpec& spec_of(JobId step) const override;
  [[nodiscard]] Result<JobId> find(std::string_view job) const override;
  Result<void> pause(JobId job) override { return run_.scheduler().pause(job); }
  Result<void> resume(JobId job) override { return run_.scheduler().resume(job); }
  Result<void> kill(JobId job) override { return run_.scheduler().kill(job, "killed by the user"); }
  Result<Bytes> set_line(std::string_view size) override;
  Result<void> set_jobs_max(unsigned jobs) override;
  void on_event(const policy::Event& event) override;
  void on_learnt(const policy::AttemptSummary& what) override { memory_.learnt(what); }
  void on_notice(const std::string& text) override { notices_.note(text); }
  void on_step_ended(const policy::JobSpec& step, const report::JobReport& report) override;
  void finish_report(const report::RunSummary& summary);
  void tell_left(const supervisor::AttemptResult& ended);
  void print_end(const govern::GovernEnd& end) const;
  [[nodiscard]] std::string summary_text(const report::RunSummary& summary) const;
  [[nodiscard]] std::string measured_text(const supervisor::AttemptResult& ended) const;

  supervisor::Supervisor& supervisor_;
  const GovernOptions& options_;
  std::optional<ReportLines> report_;
  policy::Share whole_;  // of the machine
  std::string run_id_;
  Instant begun_;
  report::TopJobs top_jobs_;
  const policy::JobSpec unknown_;  // of a step that is gone by now
  PlainNotices notices_;
  RunMemory memory_;
  govern::GovernRun run_;
  supervisor::SchedulerLeaseHolder holder_{run_.scheduler()};  // of the lease
  std::optional<supervisor::Lease> lease_;
  std::unique_ptr<supervisor::Control> control_;
  std::unique_ptr<ProgressLine> progress_;
};

}  // namespace plimsoll::cli
