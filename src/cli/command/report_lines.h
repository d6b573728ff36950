#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/disk.h"
#include "report/report.h"
#include "report/writer.h"

namespace plimsoll::cli {

// The file that --report names, if it names one; "-" is standard output. Errors name the option.
Result<std::optional<report::OutputFile>> open_report_file(const std::optional<std::string>& path,
                                                           report::Unfinished unfinished,
                                                           Durability durability,
                                                           const Disk& disk = Disk::kernel());

// What --report writes of a run: a line for each job, and last the summary. A file that can't be
// written on (a full disk) stops no job: that is told once, and tried again with the next line.
class ReportLines {
 public:
  explicit ReportLines(report::OutputFile file) : file_(std::move(file)) {}

  // Both return what is to be told to people, if anything; of finish() it means that the report is
  // not as it should be.
  [[nodiscard]] std::optional<std::string> add(const report::JobReport& job);
  [[nodiscard]] std::optional<std::string> finish(const report::RunSummary& summary);

 private:
  report::OutputFile file_;
  std::uint64_t missing_ = 0;  // jobs that the report lacks
  bool told_ = false;          // that it can't be written
};

}  // namespace plimsoll::cli
