#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "policy/job/event.h"
#include "policy/scheduler/executor.h"
#include "policy/scheduler/scheduler.h"
#include "report/report.h"
#include "supervisor/external/client_jobs.h"
#include "supervisor/external/external_job.h"
#include "supervisor/external/external_process_set.h"
#include "supervisor/external/measured_groups.h"
#include "supervisor/quota.h"

namespace plimsoll::supervisor {

// No job uses more than this, whatever its client says.
struct MachineSize {
  Bytes memory{UINT64_MAX};
  unsigned cpus = 1'000'000;
};

// What external jobs are governed by: a scheduler, and somebody who finds their processes.
class ExternalJobsHost {
 public:
  ExternalJobsHost() = default;
  ExternalJobsHost(const ExternalJobsHost&) = delete;
  ExternalJobsHost& operator=(const ExternalJobsHost&) = delete;
  virtual ~ExternalJobsHost() = default;

  [[nodiscard]] virtual Instant now() const = 0;  // the scheduler's
  [[nodiscard]] virtual JobId next_id() = 0;      // new to the scheduler
  virtual void enter(const policy::JobSpec& job) = 0;
  virtual void on_sampled(JobId job, const policy::JobSample& sample) = 0;
  virtual void on_attempt_over(JobId job, const policy::AttemptEnd& end) = 0;
  // Of an external job that waits; on_job_over() follows, now.
  virtual void withdraw(JobId job, const std::string& reason) = 0;
  // Of an external job that runs; kill() follows.
  virtual void cancel(JobId job, const std::string& reason) = 0;
  // Opens a place, having found it the peer's own.
  [[nodiscard]] virtual Result<std::unique_ptr<ExternalProcessSet>> open_place(
      const ExternalLocation& place, const Peer& peer) = 0;
  // An external job has ended for good; without what nobody has told.
  virtual void on_ended(const report::JobReport& /*report*/) {}
};

// Whether it matters what jobs write to file systems.
enum class Writes : std::uint8_t { ignored, measured };

struct ExternalConfig {
  std::uint32_t uid = 0;  // of the daemon
  MachineSize machine{};
  Writes writes = Writes::ignored;
};

// The jobs that clients run themselves, as the executor that the governor's decisions about them go
// to. It keeps the budget honest: whoever is gone, has left or does not answer a cancel has
// nothing.
//
// Pure but for its host and places. Invariant between calls: each external job belongs to one
// client, waits or runs or is being cancelled, and is forgotten when it has left for good.
class ExternalJobs : public policy::Executor, public ClientJobs {
 public:
  // `host` must outlive this.
  explicit ExternalJobs(ExternalJobsHost& host, const ExternalConfig& config = {});
  ~ExternalJobs() override;

  // More external jobs of one client, of one user, or of all users, are refused; root's are not
  // among the last.
  static constexpr std::size_t kOfClientMax = 1000;
  static constexpr std::size_t kOfUserMax = 4000;
  static constexpr std::size_t kGuestsMax = 10'000;
  static constexpr std::size_t kNameMax = 256;
  // A cancelled external job that has not left after so long is taken to have.
  static constexpr Duration kCancelPatience = std::chrono::seconds(10);
  // Places are looked at so often; growth within it is the reserve's to bear.
  static constexpr Duration kSampleInterval = std::chrono::milliseconds(100);

  ClientId open(const Peer& peer, ExternalListener& listener) override;
  // Its external jobs are gone with it, at once.
  void close(ClientId client) override;

  // Errors: invalid_argument, file_exists, no_such_process (no such external job),
  // permission_denied, not_enough_memory (too many), operation_in_progress (not in this state),
  // resource_unavailable_try_again (draining).
  Result<void> enter(ClientId client, const ExternalSpec& spec) override;
  Result<void> watch(ClientId client, const std::string& name,
                     const ExternalLocation& place) override;
  Result<void> observe(ClientId client, const std::string& name, const ExternalSample& sample);
  Result<void> leave(ClientId client, const std::string& name, const ExternalEnd& end) override;

  // No more external jobs are taken, and those that wait are sent away.
  void drain();
  // Those that run are cancelled.
  void cancel_all(const std::string& reason);

  // Looks at the places of those that run, and whose patience is over, for kLookSlice at most: the
  // loop has others to serve. Returns whether any are left, which have their turn with the next
  // calls. A new round begins each gap_after() while running() is not 0.
  bool look();
  static constexpr Duration kLookSlice = std::chrono::milliseconds(5);

  // When the next round is due after one that took so much CPU time.
  static Duration gap_after(Duration cost);
  // Later, and nobody would notice in time that memory runs short.
  static constexpr Duration kSampleIntervalMax = std::chrono::seconds(1);
  static constexpr int kLookCostShare = 20;  // at most 1 / so much of a CPU

  // Adds the groups that are looked at.
  void add_groups(MeasuredGroups& measured) const;

  [[nodiscard]] std::size_t running() const { return running_; }
  [[nodiscard]] std::size_t size() const { return external_jobs_.size(); }
  [[nodiscard]] std::size_t clients() const { return clients_.size(); }

  // Decisions, from the scheduler.
  [[nodiscard]] Instant now() const override { return host_.now(); }
  void start(const policy::Start& start) override;
  void freeze(JobId job) override;
  void thaw(JobId job) override;
  void reclaim(std::optional<JobId> job, Bytes amount) override;
  void kill(JobId job, policy::Outcome cause, std::string reason) override;
  void look_soon() override {}  // rounds are closer than that
  void wake_at(std::optional<Instant> /*when*/) override {}

  // What the scheduler tells of external jobs.
  void on_event(const policy::Event& event);
  void on_job_over(const policy::JobOver& over);

 private:
  struct Client {
    Peer peer;
    ExternalListener* listener = nullptr;  // null: it is gone
    std::map<std::string, JobId> external_jobs;
  };
  struct ExternalJob;

  [[nodiscard]] Result<void> check(const Client& owner, const ExternalSpec& spec) const;
  Result<Client*> client(ClientId id);
  Result<JobId> find(ClientId id, const std::string& name);
  ExternalJob* known(JobId job);
  enum class Waits : std::uint8_t { yes, no };
  [[nodiscard]] std::vector<JobId> those(Waits waits) const;
  [[nodiscard]] Result<void> check_apart(const ExternalLocation& place,
                                         const ExternalJob& its) const;
  void settle_place(ExternalJob& external_job);
  void tell(JobId job, ExternalJob& external_job, const ExternalSample& sample);
  void take_last_word(JobId job, ExternalJob& external_job, const ExternalEnd& how);
  void look_at(JobId job, Instant now);
  void look_at_writes(ExternalJob& external_job, Instant now) const;
  void end(JobId job, policy::Outcome outcome, const ExternalEnd& end);
  void forget(JobId job);
  [[nodiscard]] static report::JobReport report_of(const ExternalJob& external_job,
                                                   const policy::JobOver& over);

  ExternalJobsHost& host_;
  ExternalConfig config_;
  std::uint64_t last_client_ = 0;
  std::map<ClientId, Client> clients_;
  std::unordered_map<JobId, std::unique_ptr<ExternalJob>> external_jobs_;
  Quota quota_{"jobs", {.of_user = kOfUserMax, .in_all = kGuestsMax}};
  std::size_t running_ = 0;
  std::vector<JobId> round_;  // who is to be looked at yet
  Instant round_at_{};
  bool is_draining_ = false;
};

}  // namespace plimsoll::supervisor
