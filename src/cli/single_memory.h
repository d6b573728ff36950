#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/loop/loop.h"
#include "cli/command/options.h"
#include "policy/governor/share.h"
#include "policy/job/job.h"
#include "store/history/writer.h"
#include "store/runs/run_recorder.h"
#include "supervisor/attempt.h"

namespace plimsoll::cli {

// Whether a command is a run of its own or a step of something larger (`run --join`), whose
// thousands of steps would push all recorded runs out.
enum class SingleKind : std::uint8_t { run, step };

// What is known when a command begins.
struct SingleStart {
  SingleKind kind{};
  std::string run_id;
  std::vector<std::string> command_line;
  WallTime started{};
  Instant begun{};
  // What a batch would have here, of which `simulate` makes its machine; nothing: not known.
  std::optional<policy::Share> whole{};
};

// What `plimsoll run` leaves for later runs: what its command has taught, and the record of the
// run, as of a batch of one. A step is only learnt from. What goes wrong is told and costs the
// command nothing else.
class SingleMemory {
 public:
  // `loop` and `job` must outlive this. Complains from within the loop and ended(), if at all.
  SingleMemory(loop::Loop& loop, const policy::JobSpec& job, SingleStart start,
               Verbosity verbosity);
  ~SingleMemory();

  // Waits for the disk. Once.
  void ended(const supervisor::AttemptResult& result, const report::JobReport& report,
             const std::vector<counters::SystemSample>& system);

  // A command that takes less, succeeds, and for which no class was named, leaves nothing: to write
  // costs some milliseconds.
  static constexpr Duration kFrom = std::chrono::milliseconds(250);

 private:
  // Makes the record, which shows from then on that the run goes on. Starts threads.
  void begin();
  // Waits for others who have its lock: not in a turn of the loop.
  void open_history();
  [[nodiscard]] policy::Event event(policy::EventKind kind, Instant at, std::string reason) const;
  void pass_notices();
  void notice(const std::string& text) const;

  const policy::JobSpec& job_;
  const SingleStart start_;
  Verbosity verbosity_;
  bool begun_ = false;
  std::optional<Bytes> input_;
  std::optional<std::string> directory_;  // for what is kept; none: it was not begun
  std::optional<history::Writer> history_;
  std::unique_ptr<report::RunRecorder> recorder_;  // of a run
  loop::Timer timer_;
};

}  // namespace plimsoll::cli
