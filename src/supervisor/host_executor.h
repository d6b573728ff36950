#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernel/monitor/watcher.h"
#include "kernel/procfs/table.h"
#include "policy/governor/disk_floor.h"
#include "policy/governor/room_mark.h"
#include "policy/scheduler/executor.h"
#include "supervisor/disk_watch.h"
#include "supervisor/job_owner.h"
#include "supervisor/oom_watch.h"
#include "supervisor/pool_sampler.h"
#include "supervisor/run_host.h"
#include "supervisor/system_record.h"
#include "supervisor/write_looks.h"

namespace plimsoll::supervisor {

// Whoever runs a host executor is asked for the bounds that memory is watched against, and told
// what people should know.
class HostExecutorObserver {
 public:
  HostExecutorObserver() = default;
  HostExecutorObserver(const HostExecutorObserver&) = delete;
  HostExecutorObserver& operator=(const HostExecutorObserver&) = delete;
  virtual ~HostExecutorObserver() = default;
  // What the pool and the machine may have in use, now.
  [[nodiscard]] virtual monitor::Bounds bounds() const = 0;
  virtual void on_notice(const std::string& text) = 0;
};

// The real machine as the scheduler has it: attempts in groups of their own, looked at and acted
// upon. Asks the owner of a job what its attempts run, and tells it how they go.
//
// External jobs run here as well, and are started, measured and ended by somebody else: what is
// decided about one goes to the executor that it entered with, and what is seen of it comes from
// there.
//
// Invariant between events: an attempt is in attempts_ until its group is removed and all is known
// of it; its job is in jobs_ until its last attempt is gone and job_over() has said that none
// follows.
class HostExecutor : public policy::Executor,
                     private monitor::WatcherHost,
                     private OomObserver,
                     private SystemObserver {
 public:
  // All of them must outlive this. `scheduler` is called from the loop only.
  HostExecutor(RunHost& host, SystemRecord& system, policy::ExecutorObserver& scheduler,
               HostExecutorObserver& observer);
  ~HostExecutor() override;

  // From now on the space of these is watched while anything runs, and how much each attempt
  // writes. Returns the first look, which may wait. Before the first start(), at most once.
  [[nodiscard]] policy::DiskSample watch(const std::vector<policy::DiskFloor>& disks);

  // A new job, before its first start(). `owner` must outlive it.
  void enter(JobId job, JobOwner& owner);
  // A new external job; `elsewhere` must outlive it, too. Its owner is never asked to prepare(),
  // nor told of groups.
  void enter_external(JobId job, JobOwner& owner, policy::Executor& elsewhere);
  // What is seen of an external job, and its end; of others nothing happens.
  void external_sampled(JobId job, const policy::JobSample& sample);
  void external_over(JobId job, const policy::AttemptEnd& end);
  // Null if it is unknown here.
  [[nodiscard]] JobOwner* owner_of(JobId job) const;
  // A job that entered here has ended, or another attempt follows: told to its owner.
  void job_over(const policy::JobOver& over);

  [[nodiscard]] Instant now() const override;
  void start(const policy::Start& start) override;
  void freeze(JobId job) override;
  void thaw(JobId job) override;
  void reclaim(std::optional<JobId> job, Bytes amount) override;
  void kill(JobId job, policy::Outcome cause, std::string reason) override;
  void look_soon() override;
  void wake_at(std::optional<Instant> when) override;

  // The whole pool was frozen by somebody else, or thawed: between the two, this executor's time
  // stands still.
  void suspend_all();
  void resume_all();

  // Sends a signal to the main process of a job that runs, for somebody. Error: permission_denied,
  // if he could not signal it himself, as it has become another user's (su(1), sudo(8)).
  Result<void> signal(JobId job, int number, std::uint32_t asker);

  // Whether an attempt of the job that runs is ending, after a look at whether the kernel has
  // killed any of it. True if none runs.
  [[nodiscard]] bool is_ending(JobId job);

  // Attempt::give_up_removal() of all.
  void give_up_removals();

  // The cgroup of a job that runs; null if it does not, or has none.
  [[nodiscard]] std::shared_ptr<const cgroup::Group> group_of(JobId job) const;

  // Attempts whose groups are not removed yet.
  [[nodiscard]] std::size_t attempts() const { return attempts_.size(); }
  // The most that all have used, as far as is known; a job may use it between two looks.
  [[nodiscard]] Bytes used_peak() const { return std::max(pool_.peak(), largest_job_); }
  // As PoolSampler::pressure(), of the last look.
  [[nodiscard]] const std::optional<counters::Pressure>& pool_pressure() const {
    return pool_.pressure();
  }
  // Looks at the pool so far.
  [[nodiscard]] std::uint64_t samples() const { return watcher_.samples(); }
  // Which monitors watch memory, and how they fare.
  [[nodiscard]] std::vector<monitor::Status> monitors() const;

  // Frees what has ended. Not from within a callback of an attempt.
  void collect();

  // Where so many groups in which nobody lives are still being removed, the scheduler is told of
  // further attempts that are over only as removals end: starts must not outrun removals, whose
  // descriptors stay open until then. Fewer where the limit of descriptors is low.
  static constexpr std::size_t kRemovalsMax = 256;
  [[nodiscard]] std::size_t removals_max() const { return removals_max_; }

  // On v1 the kernel tells of an OOM of the pool before it kills, and not whom: so often all jobs
  // are looked at, with this gap. A kill under way takes some milliseconds.
  static constexpr unsigned kOomChecks = 5;
  static constexpr Duration kOomCheckGap = std::chrono::milliseconds(10);
  // Near a bound, or after an alarm, running jobs are looked at before their time: those whose
  // memory moves if the last look was so long ago, the others if it was kCalmSample ago. Closer
  // looks would take the batches in which the kernel counts for growth.
  static constexpr Duration kMovingSample = std::chrono::milliseconds(10);
  static constexpr Duration kCalmSample = std::chrono::milliseconds(100);
  // The space of file systems is looked at so often, and what an attempt has written where it is
  // looked at for decisions: where writers are held for it, and where it is only told of.
  static constexpr Duration kSpaceLook = std::chrono::milliseconds(100);
  static constexpr Duration kWriteLook = std::chrono::milliseconds(250);
  static constexpr Duration kSpaceLookToTell = std::chrono::seconds(2);
  static constexpr Duration kWriteLookToTell = std::chrono::seconds(30);

 private:
  struct AttemptRecord;
  struct JobRecord {
    JobOwner* owner = nullptr;
    AttemptRecord* running = nullptr;       // its attempt that is not over yet
    std::size_t attempts = 0;               // in attempts_
    policy::Executor* elsewhere = nullptr;  // of an external job
    Bytes used{};                           // by an external job, as told last
    bool ended = false;
  };

  void on_pool_oom() override;
  void on_system_sample(const counters::SystemSample& sample) override;

  void enter(JobId job, const JobRecord& record);
  [[nodiscard]] JobRecord* external(JobId job);  // null if it is not
  [[nodiscard]] policy::Executor* elsewhere_of(JobId job);
  void watch_external();
  void external_uses(JobRecord& job, Bytes used);
  [[nodiscard]] Attempt* running(JobId job);
  [[nodiscard]] std::vector<AttemptRecord*> all_running();
  [[nodiscard]] monitor::Reading look() override;
  void on_memory_alarm(const monitor::Alarm& alarm) override;
  void decide(monitor::Cause cause) override;
  void on_weakened(const monitor::Status& status) override;
  void sample_jobs();
  void look_at_rest();
  void look_at(const std::vector<JobId>& jobs);
  [[nodiscard]] static Instant next_early_look(const policy::SampleInterval& samples);
  void check_ooms();
  [[nodiscard]] std::optional<Bytes> seen_to_write(const AttemptRecord& record) const;
  [[nodiscard]] std::optional<Bytes> written_by(AttemptRecord& record,
                                                const counters::Sample& sample);
  void on_disks(const std::vector<policy::DiskFloor>& disks, const policy::DiskSample& sample);
  void look_at_writers();
  // For the space of some disk, rather than only being told of.
  [[nodiscard]] bool holds_writers() const { return write_look_ == kWriteLook; }
  void read_writers();
  void read_writer(AttemptRecord& record, Instant now);
  void go_on_with_writers();
  void start_watching();
  void stop_watching();
  [[nodiscard]] bool is_watching() const { return running_ > 0 || external_jobs_ > 0; }
  void on_over(AttemptRecord& record, const policy::AttemptEnd& end);
  void on_removed(AttemptRecord& record);
  void on_gone(AttemptRecord& record, const AttemptResult& result);
  void tell_over(AttemptRecord& record);
  void look_after_writer(const policy::AttemptEnd& end);
  void forget_if_done(JobId job);

  RunHost& host_;
  SystemRecord& system_;
  policy::ExecutorObserver& scheduler_;
  HostExecutorObserver& observer_;
  PoolSampler pool_;
  std::size_t removals_max_;
  std::unordered_map<JobId, JobRecord> jobs_;
  std::map<AttemptKey, std::unique_ptr<AttemptRecord>> attempts_;
  std::vector<std::unique_ptr<AttemptRecord>> finished_;  // destroyed outside their own callbacks
  std::size_t running_ = 0;                               // attempts that are not over
  std::size_t removals_ = 0;                              // attempts that are, and have a group
  std::deque<AttemptRecord*> untold_;                     // over, which the scheduler is not told
  std::size_t external_jobs_ = 0;                         // that run
  Bytes external_used_{};              // by them: it is in no counter of the pool
  std::optional<Instant> stopped_at_;  // by the job clock, as these two
  Duration stood_still_{};
  std::optional<Instant> wake_;  // by this executor's clock
  std::unique_ptr<loop::Clock::Timer> wake_timer_;
  monitor::Reading reading_;  // the last
  policy::RoomMark room_mark_;
  policy::MachineSample seen_;
  monitor::Watcher watcher_;
  Bytes largest_job_{};
  std::unique_ptr<DiskWatch> disk_watch_;  // null: no disk is watched
  policy::DiskSample read_at_;             // the last look at which writers were read
  std::optional<procfs::ProcDir> proc_;    // where one is
  Duration write_look_{};
  WriteLooks write_looks_;
  std::unique_ptr<loop::Clock::Timer> write_timer_;  // where a disk is watched
  std::unique_ptr<loop::Clock::Timer> looks_timer_;  // for look_soon(), which tells nobody itself
  Instant looks_asked_at_{};
  std::unique_ptr<loop::Clock::Timer> oom_timer_;  // after the kernel has told of an OOM (v1)
  unsigned oom_checks_left_ = 0;
};

}  // namespace plimsoll::supervisor
