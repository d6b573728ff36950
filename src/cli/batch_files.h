#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/batch_options.h"
#include "cli/command/report_lines.h"
#include "report/report.h"
#include "store/runs/line_log.h"

namespace plimsoll::cli {

// The jobs that are to be run: all, or with --resume and the like those that the job log leaves.
// Only looks; for --dry-run.
Result<std::vector<policy::JobSpec>> jobs_to_run(const BatchOptions& options,
                                                 std::vector<policy::JobSpec> jobs);

// What a batch writes beside its output: the job log and the report. A file that can't be written
// on (a full disk) stops no job, as of ReportLines. A line of the log is kept until it can, as a
// job without one runs again.
class BatchFiles {
 public:
  // Leaves in `jobs` those that are to be run, as above, and has the job log for itself until it is
  // destroyed: another run that has it is an error.
  // Changes nothing that is there yet.
  static Result<BatchFiles> open(const BatchOptions& options, std::vector<policy::JobSpec>& jobs,
                                 const Disk& disk = Disk::kernel());

  // To be called before the first job starts, when nothing else can go wrong any more: cuts off the
  // log what it is not to go on with, which is all of it without --resume and the like.
  Result<void> begin(const BatchOptions& options);

  // Where this stays, before the first end. The loop must outlive it.
  void begin_report(const loop::Loop& loop) {
    if (report_) report_->begin(loop);
  }

  // Whether ends are to be told only after force(), which forces the job log to the disk, or rather
  // what was written of it before; that is for another thread.
  [[nodiscard]] bool forces_ends() const { return joblog_ && durability_ == Durability::synced; }
  [[nodiscard]] Result<void> force() const { return joblog_->sync(); }

  // Each returns what is to be told to people, if anything.
  [[nodiscard]] std::optional<std::string> job_ended(const policy::JobSpec& job,
                                                     const report::JobReport& report,
                                                     Bytes received);
  // No job ends any more; also if the run has failed.
  [[nodiscard]] std::optional<std::string> jobs_ended();
  [[nodiscard]] std::optional<std::string> run_ended(const report::RunSummary& summary);

 private:
  std::optional<std::string> log_line(std::string line);

  std::optional<report::LineLog> joblog_;
  std::uint64_t joblog_whole_ = 0;  // where it is to go on
  std::optional<ReportLines> report_;
  Durability durability_ = Durability::written;
  bool told_of_joblog_ = false;  // that it can't be written
};

}  // namespace plimsoll::cli
