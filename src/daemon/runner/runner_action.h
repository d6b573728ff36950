#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/runner/runner.h"
#include "daemon/runner/runner_plan.h"
#include "supervisor/host_scheduler.h"

namespace plimsoll::daemon {

// Where an action stands; they follow each other, and some are passed over.
enum class Stage : std::uint8_t {
  directory,  // waits until nobody else has its input root
  cleaning,   // waits for the cleaners
  planning,   // its files are looked at and made
  conducted,  // a job of the host scheduler's, that waits or runs
  reporting,  // its report is written
  releasing,  // the cleaners, after
};

// One action of a worker's, from its call to its answer, as the owner of its job.
class Runner::Action : public supervisor::JobOwner {
 public:
  Action(Runner& runner, CallId id, ActionRequest order, WorkerCall& call);

  // The job that the host scheduler is to run.
  [[nodiscard]] policy::JobSpec spec_of(JobId job) const;
  [[nodiscard]] report::JobReport report(const report::HostInfo& host) const;
  // What has happened to it, a line each, for people.
  [[nodiscard]] std::string story() const;
  // The host scheduler has it and has not started it.
  [[nodiscard]] bool is_waiting() const { return stage == Stage::conducted && !started_; }
  // It goes no further than it is.
  void refuse(Status status) {
    if (result.status.ok()) result.status = std::move(status);
  }

  supervisor::Prepared prepare(const policy::Start& start) override;
  void on_event(const policy::Event& event) override;
  void on_job_over(const policy::JobOver& over) override;
  void on_gone(const supervisor::AttemptGone& gone) override;
  void on_stuck(supervisor::AttemptKey key, const reap::Stuck& stuck) override;

  // More lines of a story would hold less news than bytes.
  static constexpr std::size_t kStoryMax = 200;

  const CallId id;
  const std::shared_ptr<const ActionRequest> order;
  WorkerCall& call;
  const std::string name;       // for people
  const std::string directory;  // its input root, as others would name it too
  const Instant arrived;
  Stage stage = Stage::directory;
  bool cancelled = false;
  RunPlan plan;
  JobId job{};
  std::unique_ptr<loop::Clock::Timer> hold_timer;  // while it waits for its start
  Instant hold_end = Instant::max();  // it must be told by then that it was not started
  RunAnswer result;

 private:
  Runner& runner_;
  WallTime queued_;
  std::optional<Instant> started_;
  std::optional<supervisor::AttemptResult> attempt_;
  std::optional<counters::MachineUsage> machine_;
  policy::Outcome outcome_ = policy::Outcome::skipped;
  std::string reason_;
  std::vector<std::string> story_;
};

}  // namespace plimsoll::daemon
