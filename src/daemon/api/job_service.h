#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/loop/loop.h"
#include "base/result.h"
#include "daemon/api/ended_stories.h"
#include "daemon/api/followers.h"
#include "daemon/api/job_request.h"
#include "daemon/api/job_watcher.h"
#include "daemon/api/output_pace.h"
#include "daemon/jobs/job_runner.h"
#include "daemon/jobs/reporter.h"

namespace plimsoll::daemon {

// What the job service stands on; all of it must outlive the job service.
struct JobServiceDeps {
  loop::Loop& loop;
  JobRunner& jobs;
  Reporter& reporter;
  // Of one job of others than the host; absent where nothing counts processes.
  std::optional<std::uint64_t> processes_max{};
};

// The jobs of plimsoll.v1.Jobs: takes them for a user, has them run as that user, tells those
// who follow. It knows nothing of gRPC.
//
// Of the loop's thread. Invariant between calls: each job is known until it has ended and all its
// groups are removed; of each user's last ones after that, what was decided.
class JobService : public supervisor::JobOwner {
 public:
  explicit JobService(const JobServiceDeps& deps);
  ~JobService() override;
  JobService(const JobService&) = delete;
  JobService& operator=(const JobService&) = delete;

  // More jobs of one user, or in all, are refused; root's are taken beyond the latter.
  static constexpr std::size_t kOfUserMax = 1000;
  static constexpr std::size_t kJobsMax = 10'000;
  // The same of the bytes of what one user has asked for, as they are kept: twice each, until the
  // job has ended.
  static constexpr std::size_t kBytesOfUserMax = 64 << 20;
  // So much of a command is in the report of its end: whoever has asked for it knows it.
  static constexpr std::size_t kCommandReportedMax = 64 << 10;
  static constexpr std::size_t kDecisionsMax = 1000;  // kept of one job: half of them the last
  // Whose watcher was full is asked again after so long.
  static constexpr Duration kFullGap = std::chrono::milliseconds(20);
  // What nobody follows is read so seldom, a pipe's 64 KiB at a time, and counts as so much time:
  // 16 MiB a second of one pipe, and 64 of all of a user, some hundredths of a core. Who writes
  // more waits as in any pipe.
  static constexpr Duration kUnheardGap = std::chrono::milliseconds(4);
  static constexpr Duration kUnheardCost = std::chrono::microseconds(100);

  // Errors: permission_denied, no_such_process (no such job, or not this user's), not_enough_memory
  // (too many), operation_in_progress (not in this state), invalid_argument.
  Result<JobId> submit(const supervisor::Peer& peer, JobRequest order);
  Result<WatcherId> watch(const supervisor::Peer& peer, JobId job,
                          std::shared_ptr<JobWatcher> watcher);
  void unwatch(JobId job, WatcherId watcher);
  // The job that people mean: the one of this name that came first, else of this number. Who sees
  // jobs of several users means the number if there is such a job, and his own before others'.
  Result<JobId> find_named(const supervisor::Peer& peer, const std::string& text) const;
  // Of a job that runs, as Scheduler::pause() and resume(); kill: of any.
  Result<void> pause(const supervisor::Peer& peer, JobId job);
  Result<void> resume(const supervisor::Peer& peer, JobId job);
  Result<void> kill(const supervisor::Peer& peer, JobId job);
  // Nothing for a job that is not the job service's, or not this peer's to see.
  [[nodiscard]] const policy::JobSpec* spec_of(const supervisor::Peer& peer, JobId job) const;
  // It ends, `cancelled`; who follows it is told when its group is gone.
  void cancel(JobId job, const std::string& reason);
  [[nodiscard]] std::vector<JobListed> list(const supervisor::Peer& peer) const;
  Result<void> signal(const supervisor::Peer& peer, JobId job, int number);
  [[nodiscard]] Result<JobStory> explain(const supervisor::Peer& peer, JobId job) const;
  // So much of the loop's time it took to hand this user his jobs' output; it is read the slower.
  void spent_on_output(std::uint32_t uid, Duration cost);

  // Nobody follows jobs any more.
  void abandon();
  // No more jobs are taken, and those that wait are ended.
  void drain();
  void kill_all(const std::string& reason);
  [[nodiscard]] bool is_idle() const { return jobs_.empty(); }

  supervisor::Prepared prepare(const policy::Start& start) override;
  void on_event(const policy::Event& event) override;
  void on_job_over(const policy::JobOver& over) override;
  void on_gone(const supervisor::AttemptGone& gone) override;
  void on_stuck(supervisor::AttemptKey key, const reap::Stuck& stuck) override;

 private:
  struct Job;
  struct Share {  // what one user has here
    std::size_t jobs = 0;
    std::size_t bytes = 0;
  };

  [[nodiscard]] Result<void> check_room(const supervisor::Peer& peer, std::size_t bytes) const;
  void bound_processes(policy::JobSpec& spec) const;
  [[nodiscard]] Result<Job*> find(const supervisor::Peer& peer, JobId job) const;
  Job& at(JobId job) { return *jobs_.at(job); }
  Result<UniqueFd> open_output(Job& job, OutputStream stream);
  Result<void> watch_output(Job& job, OutputStream stream);
  void read_output(JobId id, OutputStream stream);
  void pace_output(Job& job, OutputStream stream, Duration cost);
  void pause_output(Job& job, OutputStream stream, Instant until);
  void drain_output(Job& job);
  void tell_state(Job& job, const std::string& reason);
  void end_if_done(JobId id);

  JobServiceDeps deps_;
  UniqueFd null_input_;
  std::unordered_map<JobId, std::unique_ptr<Job>> jobs_;
  std::map<std::uint32_t, Share> of_user_;
  EndedStories ended_;
  std::vector<std::unique_ptr<Job>> finished_;  // destroyed outside their own callbacks
  std::uint64_t last_watcher_ = 0;
  Followers followers_;
  OutputPace pace_;
  bool is_draining_ = false;
};

}  // namespace plimsoll::daemon
