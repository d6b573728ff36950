#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/batch_options.h"
#include "record/report.h"
#include "record/writer.h"

namespace plimsoll::cli {

// The jobs that are to be run: all, or with --resume and the like those that the job log leaves.
Result<std::vector<policy::JobSpec>> jobs_to_run(const BatchOptions& options,
                                                 std::vector<policy::JobSpec> jobs);

// What a batch writes beside its output: the job log and the report. A file that can't be written
// on (a full disk) stops no job: it is told once, and tried again with the next line.
class BatchFiles {
 public:
  static Result<BatchFiles> open(const BatchOptions& options);

  // Each returns what is to be told to people, if anything.
  [[nodiscard]] std::optional<std::string> job_ended(const policy::JobSpec& job,
                                                     const record::JobReport& report,
                                                     Bytes received);
  [[nodiscard]] std::optional<std::string> run_ended(const record::RunSummary& summary);

 private:
  std::optional<std::string> append(std::optional<record::OutputFile>& file,
                                    const std::string& text);

  std::optional<record::OutputFile> joblog_;
  std::optional<record::OutputFile> report_;
  bool told_ = false;  // that a file can't be written
};

}  // namespace plimsoll::cli
