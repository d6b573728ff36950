#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "policy/job/event.h"
#include "policy/scheduler/scheduler.h"
#include "supervisor/external/client_jobs.h"

namespace plimsoll::supervisor {

// What commands of jobs are governed by: a scheduler, and somebody who moves their processes.
class JobCommandsHost {
 public:
  JobCommandsHost() = default;
  JobCommandsHost(const JobCommandsHost&) = delete;
  JobCommandsHost& operator=(const JobCommandsHost&) = delete;
  virtual ~JobCommandsHost() = default;

  [[nodiscard]] virtual JobId next_id() = 0;  // new to the scheduler
  // The running job of this run that the process is part of, if what it starts may be governed
  // apart from it; null: it is of the run and of no job, and what it starts is a job by itself. The
  // answer holds for this call.
  [[nodiscard]] virtual Result<const policy::JobSpec*> job_of(int pid) = 0;
  // Whether the command needs no governor: it is refused then, and its launcher starts it at once.
  [[nodiscard]] virtual bool passes(const policy::JobSpec& command, int pid) = 0;
  // Moves the process into a new group of the pool; JobCommands::placed() follows, perhaps at once.
  virtual void place(JobId command, int pid) = 0;
  // One that was placed: JobCommands::started() may follow at once.
  virtual void enter(const policy::JobSpec& command) = 0;
  // One that waits; on_job_over() follows.
  virtual void withdraw(JobId command, const std::string& reason) = 0;
  // One that runs; the end of all its processes follows.
  virtual void kill(JobId command, const std::string& reason) = 0;
  // One that runs, and whose process has failed: whether all of it ends now, because nobody is left
  // or because the kernel has killed some of it for want of memory. on_job_over() follows then, or
  // has come within this call.
  [[nodiscard]] virtual bool is_ending(JobId command) = 0;
  // One that waits: nothing of it runs before its start, or its end.
  virtual void freeze(JobId command) = 0;
  // One that was placed and never started: all that lives in its group is killed, the group
  // removed.
  virtual void discard(JobId command) = 0;
};

// Commands that a run's jobs, or others of the run, have started through a launcher and wait for:
// each becomes a job of the run's scheduler, in a group of its own. That of a job is part of it
// (JobSpec::part_of).
//
// A command is admitted once. One that is killed to free memory, be it by the kernel, may come
// again, as another; what it leaves behind when its process has ended lives on, as part of its job.
// With its job, or with its launcher, it ends.
//
// Pure but for its host. Invariant between calls: a command is known from its entry until its group
// is removed, or until it is discarded.
class JobCommands : public ClientJobs {
 public:
  // `host` must outlive this. More than `most` at once are to come again later.
  JobCommands(JobCommandsHost& host, std::size_t most);
  ~JobCommands() override;

  ClientId open(const Peer& peer, ExternalListener& listener) override;
  void close(ClientId client) override;
  // Errors: invalid_argument, permission_denied (not part of a running job of this run),
  // not_enough_memory (too many), operation_canceled (it passes).
  Result<void> enter(ClientId client, const ExternalSpec& spec) override;
  Result<void> watch(ClientId client, const std::string& name,
                     const ExternalLocation& place) override;
  Result<void> leave(ClientId client, const std::string& name, const ExternalEnd& end) override;

  // What comes of JobCommandsHost::place().
  void placed(JobId command, const Result<void>& how);
  // What the scheduler does with commands.
  void started(JobId command);
  void on_event(const policy::Event& event);
  void on_job_over(const policy::JobOver& over);
  // Its group is removed.
  void gone(JobId command);

  // An attempt of this job is over: so are its commands. Not within a call of the scheduler's.
  void end_those_of(JobId job);
  // Not within a call of the scheduler's.
  void end_all(const std::string& reason);

  [[nodiscard]] std::size_t size() const { return commands_.size(); }
  // Of one that is known; else null.
  [[nodiscard]] const policy::JobSpec* spec_of(JobId command) const;

 private:
  struct Client;
  struct Command;

  [[nodiscard]] Result<const policy::JobSpec*> job_of(const Client& client,
                                                      const ExternalLocation& place);
  Result<void> begin(ClientId id, Client& client, const ExternalLocation& place);
  [[nodiscard]] Client* client_of(const Command& command);
  static void tell_end(Client& client, const policy::JobSpec& command, const policy::JobOver& over);
  [[nodiscard]] policy::JobSpec spec_for(const Client& client, const policy::JobSpec* job);
  void end(JobId id, const std::string& reason);

  JobCommandsHost& host_;
  std::size_t most_;
  std::uint64_t last_client_ = 0;
  std::map<ClientId, std::unique_ptr<Client>> clients_;
  std::map<JobId, std::unique_ptr<Command>> commands_;
};

}  // namespace plimsoll::supervisor
