#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "loop/batch_thread.h"
#include "policy/event.h"
#include "record/event_log.h"
#include "record/report.h"
#include "record/run_files.h"
#include "record/run_meta.h"

namespace plimsoll::record {

// What waits for the disk is written this often, at one write a file.
inline constexpr Duration kRecordEvery = std::chrono::milliseconds(100);
// Events, reports and samples of reports that wait for a slow disk: up to some 30 MB.
inline constexpr std::size_t kRecordsWaitingMax = 50'000;
// Of one run: above the first, reports are recorded without their samples, above the second nothing
// but the summary is. A quarter of what all runs together may have.
inline constexpr Bytes kRunWithSamplesMax{32ULL << 20};
inline constexpr Bytes kRunBytesMax{64ULL << 20};

// What is known when a run begins.
struct RunStart {
  RunMeta meta;
  Instant begun{};  // what the times of events count from
  JobNames names{};
};

// Records a run in RUNS_DIR/RUN, on a thread of its own: nothing here but the destructor waits for
// the disk. Recording also keeps all runs together within their bounds (run_dir.h).
//
// A fault ends the recording of this run, not the run: take_notice() says so once. What is dropped
// because the disk is too slow is told at the end.
class RunRecorder {
 public:
  RunRecorder(std::string runs_dir, RunStart start);
  RunRecorder(const RunRecorder&) = delete;
  RunRecorder& operator=(const RunRecorder&) = delete;
  // Waits until all is written.
  ~RunRecorder();

  void event(policy::Event event);
  void job(JobReport report);
  // The last; without it the run counts as one that died.
  void finish(RunSummary summary);

  // Waits until all is written; nothing is recorded afterwards. For notices of the end.
  void close();

  // What people are to be told; each only once.
  [[nodiscard]] std::optional<std::string> take_notice();

 private:
  struct Begin {};
  using Item = std::variant<Begin, policy::Event, JobReport, RunSummary>;

  void write(std::vector<Item> batch);
  void begin();
  Result<void> append(const std::string& events, const std::string& jobs);
  Result<void> end(const RunSummary& summary);
  void give_up(const Error& error);
  void tell(std::string notice);

  const std::string runs_dir_;
  const RunStart start_;
  std::optional<RunFiles> files_;  // of the thread; nothing: not recorded, or not any more
  bool full_ = false;              // of the thread; the bound of one run was reached
  std::mutex mutex_;
  std::vector<std::string> notices_;  // guarded by mutex_
  loop::BatchThread<Item> thread_;    // last: ends before what it uses
};

}  // namespace plimsoll::record
