#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernel/monitor/watcher.h"
#include "policy/scheduler/executor.h"
#include "supervisor/attempt.h"
#include "supervisor/pool_sampler.h"
#include "supervisor/supervisor.h"
#include "supervisor/system_record.h"

namespace plimsoll::supervisor {

// One attempt of a job of this run.
struct AttemptKey {
  JobId job{};
  unsigned attempt = 1;
  auto operator<=>(const AttemptKey&) const = default;
};

// What is to be started, or why it can't be.
struct Prepared {
  AttemptRequest request;
  UniqueFd out, err;                   // open until the request is on its way
  std::optional<std::string> refusal;  // then the attempt ends at once, `failed_to_start`
};

struct HostExecutorHooks {
  std::function<Prepared(const policy::Start&)> prepare;
  // Before the observer is told.
  std::function<void(AttemptKey, const policy::AttemptEnd&)> over;
  // The group is removed as well; after `over`.
  std::function<void(AttemptKey, const AttemptResult&)> gone;
  std::function<void(AttemptKey, const reap::Stuck&)> stuck;
  // What the pool and the machine may have in use, now.
  std::function<monitor::Bounds()> bounds;
  // Something that watched memory has failed; how it goes on without.
  std::function<void(const monitor::Status&)> weakened;
};

// The real machine as the scheduler has it: attempts in groups of their own, looked at and acted
// upon.
class HostExecutor : public policy::Executor, private monitor::WatcherHost {
 public:
  // All of them must outlive this. `observer` is called from the loop only.
  HostExecutor(Supervisor& supervisor, SystemRecord& system, policy::ExecutorObserver& observer,
               HostExecutorHooks hooks);
  ~HostExecutor() override;

  [[nodiscard]] Instant now() const override;
  void start(const policy::Start& start) override;
  void freeze(JobId job) override;
  void thaw(JobId job) override;
  void reclaim(std::optional<JobId> job, Bytes amount) override;
  void kill(JobId job, policy::Outcome cause, std::string reason) override;
  void wake_at(std::optional<Instant> when) override;

  // The whole pool was frozen by somebody else, or thawed: between the two, this executor's time
  // stands still.
  void suspend_all();
  void resume_all();

  // Sends a signal to the main process of a job that runs.
  void signal(JobId job, int number);

  // Attempt::give_up_removal() of all.
  void give_up_removals();

  // So many jobs run elsewhere and are governed beside these: memory is watched for them too.
  void watch_for_external(std::size_t external_jobs);
  // What those jobs use now, which no counter of the pool has.
  void external_use(Bytes used) { external_used_ = used; }

  // Attempts whose groups are not removed yet.
  [[nodiscard]] std::size_t attempts() const { return attempts_.size(); }
  [[nodiscard]] Bytes used_peak() const { return pool_.peak(); }
  // As PoolSampler::pressure(), of the last look.
  [[nodiscard]] const std::optional<counters::Pressure>& pool_pressure() const {
    return pool_.pressure();
  }
  // Looks at the pool so far.
  [[nodiscard]] std::uint64_t samples() const { return watcher_.samples(); }
  // Which monitors watch memory, and how they fare.
  [[nodiscard]] std::vector<monitor::Status> monitors() const;

  // Frees what has ended. Not from within a callback of an attempt.
  void collect() { finished_.clear(); }

  // On v1 the kernel tells of an OOM of the pool before it kills, and not whom: so often all jobs
  // are looked at, with this gap. A kill under way takes some milliseconds.
  static constexpr unsigned kOomChecks = 5;
  static constexpr Duration kOomCheckGap = std::chrono::milliseconds(10);
  // Near a bound, or after an alarm, running jobs are looked at before their time: those whose
  // memory moves if the last look was so long ago, the others if it was kCalmSample ago. Closer
  // looks would take the batches in which the kernel counts for growth.
  static constexpr Duration kMovingSample = std::chrono::milliseconds(10);
  static constexpr Duration kCalmSample = std::chrono::milliseconds(100);

 private:
  [[nodiscard]] Attempt* running(JobId job);
  [[nodiscard]] monitor::Reading look() override;
  void on_memory_alarm(const monitor::Alarm& alarm) override;
  void decide(monitor::Cause cause) override;
  void on_weakened(const monitor::Status& status) override;
  void sample_jobs();
  void check_ooms();
  void on_sampled(JobId job, const Attempt& attempt, const counters::Sample& sample);
  [[nodiscard]] bool is_watching() const { return !running_.empty() || external_jobs_ > 0; }
  void on_over(AttemptKey key, const policy::AttemptEnd& end);
  void on_gone(AttemptKey key, const AttemptResult& result);

  Supervisor& supervisor_;
  SystemRecord& system_;
  policy::ExecutorObserver& observer_;
  HostExecutorHooks hooks_;
  PoolSampler pool_;
  std::map<AttemptKey, std::unique_ptr<Attempt>> attempts_;
  std::unordered_map<JobId, Attempt*> running_;     // of attempts_: not over yet
  std::vector<std::unique_ptr<Attempt>> finished_;  // destroyed outside their own callbacks
  std::size_t external_jobs_ = 0;
  Bytes external_used_{};
  std::optional<Instant> stopped_at_;  // by the job clock, as these two
  Duration stood_still_{};
  std::optional<Instant> wake_;  // by this executor's clock
  loop::Timer wake_timer_;
  monitor::Reading reading_;  // the last
  policy::MachineSample seen_;
  monitor::Watcher watcher_;
  loop::Timer oom_timer_;  // after the kernel has told of an OOM (v1)
  unsigned oom_checks_left_ = 0;
};

}  // namespace plimsoll::supervisor
