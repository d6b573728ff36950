#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <variant>
#include <vector>

#include "base/loop/batch_thread.h"
#include "policy/job/event.h"
#include "report/report.h"
#include "store/runs/event_log.h"
#include "store/runs/run_files.h"
#include "store/runs/run_meta.h"

namespace plimsoll::report {

// What waits for the disk is written this often.
inline constexpr Duration kRecordEvery = std::chrono::milliseconds(100);
// What is in memory for that: all that 100,000 jobs make that are skipped at one moment. What is
// told of jobs that never started leaves a part of it to those that did.
inline constexpr Bytes kRecordWaitingMax{80ULL << 20};
inline constexpr Bytes kWaitingOfStarted{16ULL << 20};
// Of one run: above the first, reports are recorded without their samples; above the second nothing
// is told any more of jobs that never started; above the third nothing but the summary is recorded.
// A quarter of what all runs together may have.
inline constexpr Bytes kRunWithSamplesMax{32ULL << 20};
inline constexpr Bytes kRunOfUnstartedMax{48ULL << 20};
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
// A fault costs the record what was to be written, not the run: take_notice() says so once. What is
// left out of the record is counted in it.
class RunRecorder {
 public:
  RunRecorder(std::string runs_dir, RunStart start);
  RunRecorder(const RunRecorder&) = delete;
  RunRecorder& operator=(const RunRecorder&) = delete;
  // Waits until all is written.
  ~RunRecorder();

  void event(policy::Event event);
  // Of a job that was skipped it is recorded without `cwd` and `host`.
  void job(JobReport report);
  // The run has another line.
  void line(Bytes line);
  // The last; without it the run counts as one that died.
  void finish(RunSummary summary);

  // Waits until all is written; nothing is recorded afterwards. For notices of the end.
  void close();

  // What people are to be told; each only once.
  [[nodiscard]] std::optional<std::string> take_notice();

 private:
  // Whether the job of an event or report has ever started; those that have not are worth less.
  enum class Worth : std::uint8_t { started, unstarted };
  struct Begin {};
  struct TimedEvent {
    policy::Event event;
    Worth worth{};
  };
  // What is kept of a report of a job that was skipped; there may be very many at once.
  struct Skipped {
    std::string id;
    std::string job_class;
    policy::Command command;
    std::string reason;
    JobTimes times;
  };
  struct Line {
    Bytes line;
  };
  struct End {
    std::unique_ptr<RunSummary> summary;
    LeftOut left_out;  // before it came to the disk
  };
  using Item = std::variant<Begin, TimedEvent, std::unique_ptr<JobReport>, Skipped, Line, End>;
  class Pen;

  [[nodiscard]] Worth worth_of(const policy::Event& event);
  void add(Item item, std::size_t bytes, Worth worth);
  void write(std::vector<Item> batch);
  void begin();
  void end(End end);
  void miss(std::uint64_t lines, const Error& error);
  void tell(std::string notice);

  const std::string runs_dir_;
  const RunStart start_;
  std::unordered_set<JobId> started_;  // and not ended
  LeftOut not_taken_;
  std::optional<RunFiles> files_;  // of the thread; nothing: not recorded
  LeftOut not_written_;            // of the thread
  bool told_of_fault_ = false;     // of the thread
  std::mutex mutex_;
  std::vector<std::string> notices_;  // guarded by mutex_
  loop::BatchThread<Item> thread_;    // last: ends before what it uses
};

}  // namespace plimsoll::report
