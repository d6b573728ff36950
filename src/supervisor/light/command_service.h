#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/loop/loop.h"
#include "base/unique_fd.h"
#include "kernel/reap/reaper.h"
#include "supervisor/host_scheduler.h"
#include "supervisor/light/job_commands.h"
#include "supervisor/light/light_server.h"
#include "supervisor/processes/mover.h"
#include "supervisor/supervisor.h"

namespace plimsoll::supervisor {

// What CommandService needs of the run in which commands are started. What it is told comes from
// within calls of the host scheduler or of the service, neither of which must be called back.
class CommandsOwner {
 public:
  virtual ~CommandsOwner() = default;
  // The number of a new job, which no other has had.
  virtual JobId next_job_id() = 0;
  // As JobCommandsHost::job_of().
  [[nodiscard]] virtual Result<const policy::JobSpec*> job_of(int pid) = 0;
  // As JobCommandsHost::passes().
  [[nodiscard]] virtual bool command_passes(const policy::JobSpec& command, int pid) = 0;
  // The process is to become this command, and executes nothing until that is started.
  virtual void command_begins(const policy::JobSpec& /*command*/, int /*pid*/) {}
  // It did not start at once.
  virtual void command_waits(JobId /*command*/) {}
  virtual void command_starts(JobId /*command*/, std::shared_ptr<Place> /*place*/) {}
  // It never starts.
  virtual void command_withdrawn(JobId /*command*/) {}
  // One that was started has ended and its group is removed.
  virtual void command_ended(const policy::JobSpec& command, const AttemptGone& gone) = 0;
  virtual void command_stuck(const std::string& name, const reap::Stuck& stuck) = 0;
};

// JobCommands of a run, with the socket that launchers find: the process of a command is moved into
// a group of the pool, "command-" and its number, when it enters. While it waits, that group is
// frozen: what a command does before its attempt begins there would be seen by nobody. One that
// never begins ends with all that lives in its group.
class CommandService : public JobOwner, private JobCommandsHost {
 public:
  // All must outlive this.
  CommandService(Supervisor& supervisor, HostScheduler& host_scheduler, CommandsOwner& owner);
  ~CommandService() override;

  // So many commands at once, waiting or running; fewer where the limit of descriptors is low.
  static constexpr std::size_t kCommandsMax = 1000;

  // Connections come from here on. Once.
  Result<void> listen(const std::string& path) { return server_.listen({.path = path}); }

  // An attempt of this job is over: its commands end soon.
  void end_those_of(JobId job);
  // All commands end. Not within a call of the host scheduler's.
  void end_all(const std::string& reason) { commands_.end_all(reason); }
  // Of a command that has not ended; else null.
  [[nodiscard]] const policy::JobSpec* spec_of(JobId command) const {
    return commands_.spec_of(command);
  }

  Prepared prepare(const policy::Start& start) override;
  void on_event(const policy::Event& event) override { commands_.on_event(event); }
  void on_job_over(const policy::JobOver& over) override { commands_.on_job_over(over); }
  void on_gone(const AttemptGone& gone) override;
  void on_stuck(AttemptKey key, const reap::Stuck& stuck) override;

 private:
  // Of a command that has not started.
  struct Placed {
    int pid = 0;
    UniqueFd pidfd;
    std::shared_ptr<Place> place;  // held while it waits
  };
  class Discarded;

  [[nodiscard]] JobId next_id() override { return owner_.next_job_id(); }
  [[nodiscard]] Result<const policy::JobSpec*> job_of(int pid) override {
    return owner_.job_of(pid);
  }
  [[nodiscard]] bool passes(const policy::JobSpec& command, int pid) override {
    return owner_.command_passes(command, pid);
  }
  void place(JobId command, int pid) override;
  void enter(const policy::JobSpec& command) override;
  void withdraw(JobId command, const std::string& reason) override;
  void kill(JobId command, const std::string& reason) override;
  [[nodiscard]] bool is_ending(JobId command) override {
    return host_scheduler_.is_ending(command);
  }
  void freeze(JobId command) override;
  void discard(JobId command) override;
  void removed(JobId command);
  void placed(JobId command, const Result<void>& how);
  void end_all_due();

  Supervisor& supervisor_;
  HostScheduler& host_scheduler_;
  CommandsOwner& owner_;
  std::map<JobId, Placed> placed_;
  std::map<JobId, std::unique_ptr<Discarded>> discarded_;  // until their groups are removed
  std::vector<JobId> ended_jobs_;                          // whose commands are still to be ended
  loop::Timer end_timer_;
  JobCommands commands_;
  Mover mover_;  // its work ends before what it uses
  LightServer server_;
};

}  // namespace plimsoll::supervisor
