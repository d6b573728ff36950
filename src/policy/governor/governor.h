#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "base/units.h"
#include "policy/estimator/estimate.h"
#include "policy/governor/admission_context.h"
#include "policy/governor/crowding.h"
#include "policy/governor/disk_space.h"
#include "policy/governor/governor_config.h"
#include "policy/governor/hindsight.h"
#include "policy/governor/io_crowding.h"
#include "policy/governor/member.h"
#include "policy/governor/memory_response.h"
#include "policy/governor/processors.h"
#include "policy/governor/reservation.h"
#include "policy/governor/resume_policy.h"
#include "policy/governor/running_set.h"
#include "policy/governor/share.h"
#include "policy/governor/slow_start.h"
#include "policy/governor/waiting.h"
#include "policy/job/attempt.h"
#include "policy/job/decision.h"
#include "policy/job/observation.h"
#include "policy/job/tenant.h"

namespace plimsoll::policy {

// The share of the line that admissions always leave free: below it, a frozen job could not go on
// (kThawCushion) and what was just admitted would stop what runs.
inline constexpr double kMarginLeast = 0.03;
// Each pause and each eviction leaves so much more free as, kept free for this long, is worth the
// memory times the time that it wastes; but no more than this, and up to the most. So jobs of
// seconds, which lose next to nothing, use what long ones leave free.
inline constexpr Duration kMarginPays = std::chrono::minutes(10);
inline constexpr double kMarginStep = 0.02;
inline constexpr double kMarginMost = 0.15;
// Half of what was added is forgotten after so long: of the order of what long jobs take, as the
// mix of jobs changes no faster, and long ones lose most.
inline constexpr Duration kSafetyMarginHalfLife = std::chrono::hours(3);

// Learns how much has to stay free on this machine with these jobs: what estimates don't tell, such
// as a wobble that all jobs share, shows as pauses and evictions.
class SafetyMargin {
 public:
  // `part` of the line, for so long.
  void wasted(double part, Duration time, Instant now) {
    const double worth = part * to_seconds(time) / to_seconds(kMarginPays);
    added_ = std::min(added(now) + std::min(kMarginStep, worth), kMarginMost - kMarginLeast);
    at_ = now;
  }
  // The share of the line to be left free.
  [[nodiscard]] double margin(Instant now) const { return kMarginLeast + added(now); }

 private:
  [[nodiscard]] double added(Instant now) const {
    using Half = std::chrono::duration<double>;
    return added_ * std::exp2(-Half(now - at_).count() / Half(kSafetyMarginHalfLife).count());
  }

  double added_ = 0;  // at at_
  Instant at_{};
};

// Decides which jobs run on one machine: admits, pauses, takes memory back, evicts, so that the
// machine is full and its memory never overcommitted.
//
// The keel, the oldest attempt that runs, is never evicted for another job of its tenant, nor for
// one of another as long as its own has no more than his part of the line (TenantExcess); and it is
// never frozen unless it is alone but for small ones and other runs go before (Share::has_elder).
// Each job that is
// admitted leaves once; a job that is frozen is thawed, evicted or becomes the keel within a bound.
//
// Pure and deterministic: it knows the time only as a parameter, which never goes back. The caller
// carries out every decision at once and in order, and tells what comes of it.
class Governor {
 public:
  explicit Governor(GovernorConfig config);

  // What a waiting job of this kind is believed to need. Before the first enter() of the kind, and
  // again when more is known. O(log n).
  void expect(Kind kind, const Estimate& estimate);

  // No job of this kind waits or runs: it need not be known any more.
  void forget(Kind kind) { waiting_.forget(kind); }

  // A job could run now and waits for its admission. O(log n).
  void enter(Ready& job, Instant now);
  // The waiting job will not run (now). O(log n).
  void withdraw(Ready& job);

  // One look at a running job. O(1); well under 1 us.
  void observe(const Ready& job, const JobSample& sample, Instant now);
  // What is believed of a running job by what it has shown up to now. O(1).
  void expect(const Ready& job, const Estimate& estimate, Instant now);
  // One look at the machine.
  void tick(const MachineSample& sample, Instant now);
  // One look at the file systems of the configuration; what of it people should know.
  [[nodiscard]] std::vector<DiskNews> observe(const DiskSample& sample, Instant now);
  // The attempt is over and its memory is back. O(running), of pointers.
  void leave(Ready& job, const AttemptEnd& end, Instant now);

  // The user wants this running job frozen until resume(): rule() freezes it, be it the keel; no
  // bound holds for it.
  void pause(const Ready& job, Instant now);
  void resume(const Ready& job, Instant now);
  // The running job has begun commands and waits for them, until go_on(): it is neither frozen nor
  // evicted meanwhile, is what it is by the last expect(), and does not count as what runs where a
  // command is to start.
  void wait_for_commands(const Ready& job, Instant now);
  void go_on(const Ready& job);
  // Somebody else is killing this running job; its memory will be back soon.
  void mark_dying(const Ready& job, Instant now);

  // All that is to be done now, at most `starts_max` admissions of jobs among it, and commands
  // besides. Call it after every call above (once after several will do) and at next_wake(). O(1)
  // while nothing presses and nobody can start; else O(running).
  [[nodiscard]] std::vector<Decision> rule(Instant now, unsigned starts_max);

  // When rule() may have something to decide if nothing else happens before. Ask after rule().
  [[nodiscard]] std::optional<Instant> next_wake() const { return next_wake_; }

  // Why the first of the waiting jobs waits; nothing if none does, or if the caller let no more
  // start. As of the last rule().
  [[nodiscard]] const std::optional<Holding>& holding() const { return holding_; }

  // Whether jobs wait only until those that run were looked at after pauses, and the sooner that is
  // the better: the paused ones are known and can be run again, so that who starts too soon beside
  // them costs time alone. Once for each trouble.
  [[nodiscard]] bool take_wish_for_looks(Instant now);

  // What this run may plan with from now on. How idle or crowded the machine is goes by all of its
  // cores, those of the configuration.
  void set_share(const Share& share);
  [[nodiscard]] double cores() const { return cores_; }  // of that share
  // That the running jobs are believed to want together.
  [[nodiscard]] double cores_wanted() const { return running_set_.cores_wanted(); }
  // Cores that were used of late by anybody but the pool; absent where the host can't tell.
  [[nodiscard]] std::optional<double> cores_of_others() const { return processors_.others(); }
  // The file systems of the configuration, as of the last look.
  [[nodiscard]] std::vector<DiskStatus> disks() const { return disk_space_.status(); }
  void set_jobs_max(unsigned jobs_max);
  [[nodiscard]] const GovernorConfig& config() const { return config_; }

  [[nodiscard]] std::optional<JobId> keel() const;
  // The share of the line that admissions leave free.
  [[nodiscard]] double margin(Instant now) const { return safety_margin_.margin(now); }
  // Of those that run or are frozen, without small ones (RunningSet::set_small).
  [[nodiscard]] std::size_t sizeable() const;
  // When the oldest of these started, or the keel if there is none.
  [[nodiscard]] std::optional<Instant> oldest() const;
  [[nodiscard]] Bytes used() const {
    return to_bytes(running_set_.used());
  }  // of the pool, as of the last sample of anything
  [[nodiscard]] std::size_t running() const { return running_set_.size(); }
  [[nodiscard]] std::size_t frozen() const { return running_set_.frozen(); }
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

 private:
  void set_limits();
  void settle(Member& member);
  void count_waste(const Decision& decision, Instant now);
  void count(Tenant tenant, int change);
  void admit(Instant now, unsigned starts_max, AdmissionContext& seen,
             std::vector<Decision>& rulings);
  void believe_words();
  [[nodiscard]] bool is_calm(Instant now) const;
  void set_wake(Instant now);

  GovernorConfig config_;
  double cores_;      // that this run may plan with; the machine has config_.cores
  double taken_ = 0;  // bytes of the line that other runs are about to use
  double told_ = 0;   // and that other users' runs say they have: for starts alone
  std::optional<double> left_by_others_;  // bytes, as Share has it
  std::size_t unsettled_elsewhere_ = 0;   // jobs, as Share has it
  bool has_elder_ = false;                // as Share has it
  Waiting waiting_;
  RunningSet running_set_;
  MemoryResponse memory_response_;
  ResumePolicy resume_policy_;
  SlowStart slow_start_;
  SafetyMargin safety_margin_;
  Crowding crowding_;
  DiskSpace disk_space_;
  IoCrowding io_crowding_;
  Reservations reservations_;
  std::optional<Tenant> last_served_;
  std::map<Tenant, int> tenants_;  // how many of whose jobs run or wait
  Processors processors_;
  Hindsight hindsight_;
  // Bytes that the pool may have by what the machine has left.
  std::optional<double> machine_limit_;
  MemoryResponse::Limits limits_;
  std::optional<Holding> holding_;
  std::optional<Instant> next_wake_;
  std::vector<Decision> asked_for_;   // freezes and thaws, by the user and for commands
  bool changed_ = true;               // since the last round, in a way that may let somebody start
  std::optional<Instant> after_end_;  // when who waits is looked at once more for that
  std::optional<Instant> looks_wished_for_{};  // after this trouble
  std::optional<Instant> last_round_;
};

}  // namespace plimsoll::policy
