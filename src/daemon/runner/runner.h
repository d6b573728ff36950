#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/loop/clock.h"
#include "daemon/grpc/status.h"
#include "daemon/jobs/job_runner.h"
#include "daemon/jobs/reporter.h"
#include "daemon/runner/action_request.h"
#include "daemon/runner/cleaning_command.h"
#include "daemon/runner/idle_cleaner.h"
#include "daemon/runner/lanes.h"
#include "daemon/runner/runner_answer.h"
#include "daemon/runner/temporary_directory.h"

namespace plimsoll::daemon {

// Names one call of a worker's, from its arrival to its answer.
enum class CallId : std::uint64_t {};

// A call that waits for its one answer, which comes from the loop's thread. It may be gone when the
// answer returns.
class WorkerCall {
 public:
  virtual ~WorkerCall() = default;
  // To CheckReadiness.
  virtual void checked(const Status& status) = 0;
  // To Run.
  virtual void ran(const RunAnswer& answer) = 0;
};

// What a runner works with; all must outlive it.
struct RunnerDeps {
  JobRunner& jobs;
  Lanes& files;
  CleaningCommand& cleaning_command;
  loop::Clock& clock;
  Reporter& reporter;
};

// Runs the actions of Buildbarn's workers, each as a job: its place in the worker's directories,
// its log files, its report, and the answer to the worker. On the loop's thread; what touches the
// workers' files is done in lanes, where a directory that hangs holds up the actions of that
// directory alone.
//
// Invariant: an action has its one answer only when no process and no group of it is left, and two
// actions never have the same input root at once.
class Runner : private IdleCleaner::Cleaner {
 public:
  // Looks at the directories that are to be cleaned: blocks.
  Runner(const RunnerDeps& deps, RunnerSettings settings);
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  ~Runner() override;

  // The name of a call that comes. From any thread.
  [[nodiscard]] CallId new_call() { return CallId{++last_call_}; }
  // Whether this path of the build directory is there and the machine has room: CheckReadiness.
  void check(const std::string& path, WorkerCall& call);
  // Runs an action. `id` is from new_call().
  void run(CallId id, ActionRequest order, WorkerCall& call);
  // Nobody waits for the action any more: it is ended where it stands, and answered all the same.
  // May come after the answer, or for a call that is not known, and does nothing then.
  void cancel(CallId id);

  // No action is taken on any more, and those that wait are sent away; what runs may end.
  void drain();
  // Those that run are killed, too.
  void kill_all(const std::string& reason);
  // Whether every call has its answer.
  [[nodiscard]] bool is_idle() const { return actions_.empty() && checks_ == 0; }

  // So long an action waits for memory at most, as its time-out runs meanwhile; and it gives up,
  // whatever it waits for, so long before that is over, or a tenth of it, to be told why. Guesses:
  // a worker's next readiness check is refused by then.
  static constexpr Duration kHoldMax = std::chrono::seconds(20);
  static constexpr Duration kHoldMargin = std::chrono::seconds(1);
  static constexpr int kHoldMarginPart = 10;
  // What an action waits for after kHoldMax is looked at so often.
  static constexpr Duration kHoldSample = std::chrono::seconds(1);
  // An action that waits for so long shows a machine that is full; for less, one where starts are
  // paced.
  static constexpr Duration kFullWait = std::chrono::seconds(1);
  // No worker has so many threads; beyond, what is asked is refused.
  static constexpr std::size_t kActionsMax = 5000;
  // A machine whose jobs use so much of the line takes on no new worker's action.
  static constexpr double kFullShare = 0.97;

 private:
  class Action;

  [[nodiscard]] std::optional<std::string> why_full() const;
  [[nodiscard]] bool has_waited(Duration time) const;
  void enter_directory(Action& action);
  void leave_directory(const Action& action);
  void acquire(Action& action);
  void link_for(Action& action);
  void plan(Action& action);
  void conduct(Action& action);
  void end_waiting(Action& action);
  void give_up_waiting(Action& action, const std::string& reason);
  void report(Action& action);
  void release(Action& action);
  void check_after(Action& action, Status cleaned);
  void finish(Action& action, Status last);
  [[nodiscard]] std::string lane_of(const Action& action) const;
  Action* find(CallId id);
  void end_check(const Status& status, WorkerCall& call);
  // On a thread for files, then back; or at once, where there is nothing to do.
  void link(const std::string& target, Lanes::Done done);
  void look_at(const std::string& path, Lanes::Done done);
  void look_for_needed(std::size_t next, Lanes::Done done);
  void clean(IdleCleaner::Done done) override;
  void clean_directories(std::size_t next, IdleCleaner::Done done);
  void tell_unclean(const std::string& path, const Status& cleaned);

  RunnerDeps deps_;
  std::atomic<std::uint64_t> last_call_ = 0;
  std::shared_ptr<const RunnerSettings> settings_;
  std::vector<std::shared_ptr<const TemporaryDirectory>> temporary_;
  std::map<std::string, std::string> unclean_;  // what was told last of each, while it is so
  report::HostInfo host_;
  UniqueFd null_input_;
  IdleCleaner cleaner_{*this};
  std::map<CallId, std::unique_ptr<Action>> actions_;
  std::map<std::string, std::deque<CallId>> directories_;  // who has each, and who waits for it
  std::size_t checks_ = 0;
  std::size_t running_ = 0;  // actions between acquire and release
  bool draining_ = false;
};

}  // namespace plimsoll::daemon
