#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/runner/file_lanes.h"
#include "daemon/runner/idle_cleaner.h"
#include "daemon/runner/runner_service.h"
#include "daemon/runner/temporary_directory.h"
#include "report/report.h"
#include "supervisor/host_scheduler.h"
#include "supervisor/supervisor.h"

namespace plimsoll::daemon {

// What a runner works with; all must outlive it.
struct RunnerDeps {
  supervisor::Supervisor& supervisor;
  supervisor::HostScheduler& host_scheduler;
  std::function<JobId()> next_id;                       // new to the host scheduler
  std::function<void(const std::string&)> log;          // a line for the daemon's log
  std::function<void(const report::JobReport&)> ended;  // an action; may be empty
};

// Runs the actions of Buildbarn's workers, each as a job of the host scheduler's: its place in the
// worker's directories, its log files, its report, and the answer to the worker. On the loop's
// thread; what touches the workers' files goes to other threads, where a directory that hangs holds
// up the actions of that directory alone.
//
// Invariant: an action has its one answer only when no process and no group of it is left, and two
// actions never have the same input root at once.
class Runner {
 public:
  // Looks at the directories that are to be cleaned: blocks.
  Runner(RunnerDeps deps, RunnerSettings settings);
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  ~Runner();

  // For RunnerService, which says what they do.
  [[nodiscard]] RunnerHandlers handlers();
  void check(const std::string& path, std::function<void(Status)> answer);
  void run(CallId call, ActionRequest order, std::function<void(RunAnswer)> answer);
  void cancel(CallId call);

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
  class Cleaning;

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
  Action* find(CallId call);
  void end_check(Status status, const std::function<void(Status)>& answer);
  // On a thread for files, then back; or at once, where there is nothing to do.
  void link(const std::string& target, FileLanes::Done done);
  void look_at(const std::string& path, FileLanes::Done done);
  void look_for_needed(std::size_t next, FileLanes::Done done);
  void clean(IdleCleaner::Done done);
  void clean_directories(std::size_t next, std::function<void()> done);
  void tell_unclean(const std::string& path, const Status& cleaned);
  void run_cleaner(IdleCleaner::Done done);

  RunnerDeps deps_;
  std::shared_ptr<const RunnerSettings> settings_;
  std::vector<std::shared_ptr<const TemporaryDirectory>> temporary_;
  std::map<std::string, std::string> unclean_;  // what was told last of each, while it is so
  report::HostInfo host_;
  UniqueFd null_input_;
  FileLanes files_;
  IdleCleaner cleaner_;
  std::map<CallId, std::unique_ptr<Action>> actions_;
  std::map<std::string, std::deque<CallId>> directories_;  // who has each, and who waits for it
  std::unique_ptr<Cleaning> cleaning_;                     // the last run of the command
  std::size_t checks_ = 0;
  std::size_t running_ = 0;  // actions between acquire and release
  std::uint64_t cleanings_ = 0;
  bool draining_ = false;
};

}  // namespace plimsoll::daemon
