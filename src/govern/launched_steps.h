#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "govern/exec.h"
#include "govern/step_tree.h"
#include "govern/steps_observer.h"
#include "report/report.h"
#include "supervisor/host_scheduler.h"
#include "supervisor/light/command_service.h"
#include "supervisor/supervisor.h"

namespace plimsoll::govern {

// What steps of either kind share; all must outlive who has it.
struct StepsShared {
  StepTree& tree;
  StepCounts& counts;
  StepNumbers& numbers;
  StepsObserver& observer;
  // Whether it may run without a group and without waiting, as far as is known of its class.
  std::function<bool(const policy::JobSpec&)> may_be_small;
};

// Steps whose parent is a launcher (`plimsoll exec`), itself a driver: they wait before their exec,
// when the launcher asks for them (docs/formats/light.md), and the launcher can run again what was
// killed to free memory. Where it is refused, or gets no answer, it starts its command all the
// same, which is then a step as any other: small ones are refused.
//
// Invariant between events: a step is known from its entry until its group is removed or it was
// withdrawn.
class LaunchedSteps : private supervisor::CommandsOwner {
 public:
  // All must outlive this.
  LaunchedSteps(supervisor::Supervisor& supervisor, supervisor::HostScheduler& scheduler,
                StepsShared shared);
  ~LaunchedSteps() override;

  // Launchers are heard from here on. Once.
  Result<void> listen(const std::string& path) { return service_.listen(path); }
  // Those in this place, that of the drivers, are; null: none.
  void admit_from(std::shared_ptr<supervisor::Place> drivers) { drivers_ = std::move(drivers); }

  [[nodiscard]] std::vector<RunningStep> running() const;
  // Whoever is left ends. Nobody else is admitted.
  void end_all(const std::string& why);
  // Those that are paused go on, whatever it takes.
  void resume_all();
  [[nodiscard]] bool is_idle() const { return steps_.empty(); }
  [[nodiscard]] bool has(JobId step) const { return steps_.contains(step); }
  // Of a step that has not ended; else null.
  [[nodiscard]] const policy::JobSpec* spec_of(JobId step) const { return service_.spec_of(step); }

  // A process of the step executes something.
  void goes_on(JobId step, const Exec& exec);
  // The step has turned out to be a driver. Its place, if it runs; else null.
  std::shared_ptr<supervisor::Place> release(JobId step);
  // Whether one of them may hold several tokens of a jobserver. One other is its launcher's.
  [[nodiscard]] bool may_hold_tokens() const;

 private:
  struct Launched {
    WallTime queued{};
    Instant waiting_since{};
    Duration waited{};
    std::shared_ptr<supervisor::Place> place;  // once it runs
    bool was_held = false;                     // and is counted as such
    bool is_driver = false;
    bool may_hold_tokens = false;
  };

  JobId next_job_id() override { return shared_.numbers.next(); }
  [[nodiscard]] Result<const policy::JobSpec*> job_of(int pid) override;
  [[nodiscard]] bool command_passes(const policy::JobSpec& command, int /*pid*/) override {
    return shared_.may_be_small(command);
  }
  void command_begins(const policy::JobSpec& command, int pid) override;
  void command_waits(JobId command) override;
  void command_starts(JobId command, std::shared_ptr<supervisor::Place> place) override;
  void command_withdrawn(JobId command) override;
  void command_ended(const policy::JobSpec& command, const supervisor::AttemptGone& gone) override;
  void command_stuck(const std::string& name, const reap::Stuck& stuck) override;
  void drop(JobId step);

  supervisor::Supervisor& supervisor_;
  supervisor::HostScheduler& scheduler_;
  StepsShared shared_;
  report::HostInfo host_;
  std::shared_ptr<supervisor::Place> drivers_;
  std::map<JobId, Launched> steps_;
  supervisor::CommandService service_;  // last: it ends before what it tells
};

}  // namespace plimsoll::govern
