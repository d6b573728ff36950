#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "govern/exec_listener.h"
#include "govern/exec_reader.h"
#include "govern/launched_steps.h"
#include "govern/step_tree.h"
#include "govern/steps_observer.h"
#include "report/report.h"
#include "supervisor/host_scheduler.h"
#include "supervisor/processes/mover.h"
#include "supervisor/processes/place.h"
#include "supervisor/processes/small_processes.h"
#include "supervisor/supervisor.h"

namespace plimsoll::govern {

struct Step;

// The steps of one command: what its drivers start becomes a job of the scheduler at its exec. The
// process is moved into a place of the pool while it stands in the exec, and stopped there before
// it goes on if the scheduler has not started the job by then: it stops before the first
// instruction of the new program, and the start is the thaw. So nobody else waits: neither a parent
// that has called vfork(2), nor the scheduler.
//
// Of an exec that is done already (ExecWatcher) the process is moved with all that lives below it,
// and stopped wherever it is by then if it has to wait. Whoever lives below it may turn out to be a
// driver before that.
//
// Without cgroups a shell with job control would take it for stopped by its user. What that starts
// waits in its exec instead, and is not paused later.
//
// Invariant between events: each exec that stands is answered, or its process is on its way into
// or out of a place, or held there; each step is in steps_ until its job is over and its place is
// removed, or it is a small one.
class Steps : public ExecObserver,
              private supervisor::JobOwner,
              private ProcessLookup,
              private supervisor::SmallProcessesObserver {
 public:
  // All must outlive this.
  Steps(supervisor::Supervisor& supervisor, supervisor::HostScheduler& scheduler,
        const Drivers& drivers, StepsObserver& observer);
  ~Steps() override;

  // Steps are the kernel's victims before drivers; before begin().
  void put_drivers_first() { drivers_first_ = true; }
  // Steps may come from launchers as well, which find this socket; before begin().
  Result<void> listen(const std::string& path) { return launched_.listen(path); }
  // Where the command of a further execution may be started, as all drivers.
  [[nodiscard]] Result<std::shared_ptr<supervisor::Place>> make_drivers(const std::string& name);
  // The command is about to be executed: its first exec is the root of what follows. `drivers`:
  // where it is. `listener` must live until all execs are answered; null: none will have to be.
  void begin(ExecListener* listener, std::shared_ptr<supervisor::Place> drivers);
  [[nodiscard]] std::vector<RunningStep> running() const;
  // The command has ended: whoever is left is killed.
  void end_all(const std::string& why);
  // Those that wait or are paused go on, whatever it takes: they have been asked to end.
  void release_held();
  [[nodiscard]] bool is_idle() const {
    return steps_.empty() && on_the_way_ == 0 && launched_.is_idle();
  }

  [[nodiscard]] const StepCounts& counts() const { return counts_; }
  // Those that run without a group.
  [[nodiscard]] std::size_t small() const { return small_.size(); }
  // How many live that may hold a token of a jobserver: a step is started with one, and so is a
  // driver. Nothing: one may hold several, or not all are seen.
  [[nodiscard]] std::optional<std::size_t> token_holders();
  // Of a step that has not ended.
  [[nodiscard]] const policy::JobSpec* spec_of(JobId step) const;

  void on_exec(std::optional<PendingExec> pending, const Exec& exec) override;
  void on_blind(const Error& why) override;

  // What was held and has not been seen to stand so long after its exec is looked at no more.
  static constexpr Duration kBirthPatience = std::chrono::seconds(1);
  static constexpr Duration kBirthLook = std::chrono::milliseconds(2);
  // Whether somebody is left in a step that waits, and whose main process has ended.
  static constexpr Duration kEmptyLook = std::chrono::milliseconds(50);
  // Of places that are kept for the next exec of their process; others go at once.
  static constexpr std::size_t kSparesMax = 64;

 private:
  // A place that a process was moved into for an exec that has failed after all: for its next.
  struct Spare {
    procfs::Id process;
    std::shared_ptr<supervisor::Place> place;
  };

  [[nodiscard]] std::optional<Process> find(int pid) override;
  [[nodiscard]] std::optional<JobId> step_of(int pid) override;
  void on_small_ended(JobId small) override;
  void on_grown(supervisor::SmallProcess small) override;
  supervisor::Prepared prepare(const policy::Start& start) override;
  void on_job_over(const policy::JobOver& over) override;
  void on_gone(const supervisor::AttemptGone& gone) override;
  void on_stuck(supervisor::AttemptKey key, const reap::Stuck& stuck) override;

  using Pending = std::optional<PendingExec>;  // nothing: it is done

  [[nodiscard]] bool lives_here(int pid) const;
  void follow(Pending pending, const Exec& exec, const Meaning& meaning);
  // What a step is expected to reach that may run without a group and without waiting.
  [[nodiscard]] std::optional<Bytes> small_peak(const policy::JobSpec& spec) const;
  void begin_step(Pending pending, const Exec& exec);
  void place(std::unique_ptr<Step> step, std::shared_ptr<supervisor::Place> place);
  [[nodiscard]] supervisor::Newcomer newcomer(const Step& step) const;
  void moved(JobId id, const Result<void>& result);
  void enter(Step& step);
  void hold(Step& step);
  void count_held(Step& step);
  void stop(Step& step);
  void look_at_birth(JobId id);
  void main_ended(Step& step);
  void look_if_empty(JobId id);
  void withdraw(Step& step, const std::string& why);
  [[nodiscard]] bool is_running(const Step& step) const;
  void let_go(Step& step);
  void release(JobId id, const std::function<void()>& then);
  void give_back(const std::shared_ptr<supervisor::Place>& place, std::function<void()> then);
  void turn_back(Step& step);
  void drop(JobId id);
  void answer(Pending pending);
  void answer(Step& step);
  void tell_of_places(const Error& why);
  void tell_once(bool& told, const std::string& text);

  supervisor::Supervisor& supervisor_;
  supervisor::HostScheduler& scheduler_;
  StepTree tree_;
  StepsObserver& observer_;
  report::HostInfo host_;
  ExecListener* listener_ = nullptr;  // null: every exec is done when it is told
  std::shared_ptr<supervisor::Place> drivers_;
  bool has_root_ = false;
  bool is_ending_ = false;
  std::map<JobId, std::unique_ptr<Step>> steps_;
  std::unordered_map<int, Spare> spares_;
  std::size_t on_the_way_ = 0;  // moves under way
  supervisor::SmallProcesses small_;
  std::map<JobId, Exec> small_execs_;  // of these
  StepCounts counts_;
  StepNumbers numbers_;
  LaunchedSteps launched_;
  bool told_of_places_ = false;
  bool is_blind_ = false;
  bool drivers_first_ = false;
  supervisor::Mover mover_;  // its work ends before what it uses
};

}  // namespace plimsoll::govern
