#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/disk.h"
#include "base/loop/worker.h"
#include "base/result.h"
#include "report/report.h"
#include "report/writer.h"

namespace plimsoll::cli {

// The file that --report names, if it names one; "-" is standard output. Errors name the option.
Result<std::optional<report::OutputFile>> open_report_file(const std::optional<std::string>& path,
                                                           report::Unfinished unfinished,
                                                           Durability durability,
                                                           const Disk& disk = Disk::kernel());

// Lines that wait for who reads a pipe; beyond, the loop waits for it as well.
inline constexpr std::size_t kReportWaitsMax = 64 << 20;

// What --report writes of a run: a line for each job, and last the summary. A file that can't be
// written on (a full disk) stops no job: that is told once, and tried again with the next line. Who
// reads a pipe slowly holds up nothing but the end of the run: it is written on a thread of its
// own.
class ReportLines {
 public:
  explicit ReportLines(report::OutputFile file) : file_(std::move(file)) {}

  // Before the first line, and where this stays. The loop must outlive it.
  void begin(const loop::Loop& loop);

  // Both return what is to be told to people, if anything, of a pipe with the next call; of
  // finish() it means that the report is not as it should be.
  [[nodiscard]] std::optional<std::string> add(const report::JobReport& job);
  [[nodiscard]] std::optional<std::string> finish(const report::RunSummary& summary);

 private:
  // Between the two threads.
  struct Written {
    std::mutex lock;
    std::condition_variable changed;
    std::size_t waiting = 0;  // bytes
    std::vector<Result<void>> results;
  };

  std::optional<std::string> take(const Result<void>& wrote);
  std::optional<std::string> take_written();

  report::OutputFile file_;
  std::uint64_t missing_ = 0;  // jobs that the report lacks
  bool told_ = false;          // that it can't be written
  std::unique_ptr<Written> written_;
  std::unique_ptr<loop::Worker> worker_;  // null: lines are written at once
};

}  // namespace plimsoll::cli
