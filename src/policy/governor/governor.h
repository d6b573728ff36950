#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/units.h"
#include "policy/estimator/estimate.h"
#include "policy/governor/decision.h"
#include "policy/governor/share.h"
#include "policy/job/attempt.h"
#include "policy/job/observation.h"
#include "policy/job/tenant.h"

namespace plimsoll::policy {

// Who starts first of those that could, beside their priorities.
enum class StartOrder : std::uint8_t {
  longest,  // whoever is expected to take longest; what fits goes ahead of what does not
  input,    // as they were entered; nobody goes ahead of another
};

struct GovernorConfig {
  Bytes line{};           // the bytes that the pool may use
  double cores = 1;       // more than 0
  unsigned jobs_max = 1;  // so many at once at most, frozen ones included; at least 1
  bool may_evict = true;  // else only holds and pauses; what can't be held at the line fails
  bool may_pause = true;  // false where nothing can be frozen
  bool has_swap = false;  // memory of frozen jobs can be pushed out
  Bytes reserve{};        // of the machine's MemAvailable, left to everybody else
  StartOrder order = StartOrder::longest;
  // Who has waited for so long starts once his memory fits, however busy the cores are.
  Duration cores_wait_max = Duration::max();
};

// Waiting jobs of one tenant that are expected to behave alike share one estimate, and so one
// number. Chosen by the caller.
enum class Kind : std::uint32_t {};

// A job that could run now.
struct Ready {
  JobId job{};
  Kind kind{};
  int priority = 0;  // higher starts earlier
  bool restartable = true;
  unsigned lost = 0;  // attempts that were evicted or lost to the machine
  Tenant tenant = kHost;
};

// A job that was evicted or lost so often has the right of way from then on, one such job at a
// time: it is neither frozen nor evicted, and starts only where its peak fits beside the keel's.
// Should these two come into conflict all the same, it is evicted once more and then runs alone.
// What is killed every time must come to an end.
inline constexpr unsigned kEvictionsMax = 3;

// Decides which jobs run on one machine: admits, pauses, takes memory back, evicts, so that the
// machine is full and its memory never overcommitted.
//
// The keel, the oldest attempt that runs, is never frozen or evicted. Each job that is admitted
// leaves once; a job that is frozen is thawed, evicted or becomes the keel within a bound.
//
// Pure and deterministic: it knows the time only as a parameter, which never goes back. The caller
// carries out every decision at once and in order, and tells what comes of it.
class Governor {
 public:
  explicit Governor(GovernorConfig config);
  ~Governor();
  Governor(Governor&&) noexcept;
  Governor& operator=(Governor&&) noexcept;

  // What a waiting job of this kind is believed to need. Before the first enter() of the kind, and
  // again when more is known. O(log n).
  void expect(Kind kind, const Estimate& estimate);

  // No job of this kind waits or runs: it need not be known any more.
  void forget(Kind kind);

  // A job could run now and waits for its admission. O(log n).
  void enter(const Ready& job, Instant now);
  // The waiting job will not run (now). O(log n).
  void withdraw(JobId job);

  // One look at a running job. O(log n); well under 1 us.
  void observe(JobId job, const JobSample& sample, Instant now);
  // What is believed of a running job by what it has shown up to now. O(1).
  void expect(JobId job, const Estimate& estimate, Instant now);
  // One look at the machine.
  void tick(const MachineSample& sample, Instant now);
  // The attempt is over and its memory is back. O(log n).
  void leave(JobId job, const AttemptEnd& end, Instant now);

  // The user wants this running job frozen until resume(): rule() freezes it, be it the keel; no
  // bound holds for it.
  void pause(JobId job, Instant now);
  void resume(JobId job, Instant now);
  // Somebody else is killing this running job; its memory will be back soon.
  void mark_dying(JobId job, Instant now);

  // All that is to be done now, at most `starts_max` admissions among it. Call it after every call
  // above (once after several will do) and at next_wake(). O(1) while nothing presses and nobody
  // can start; else O(running).
  [[nodiscard]] std::vector<Decision> rule(Instant now, unsigned starts_max);

  // When rule() may have something to decide if nothing else happens before. Ask after rule().
  [[nodiscard]] std::optional<Instant> next_wake() const;

  // Why the first of the waiting jobs waits; nothing if none does, or if the caller let no more
  // start. As of the last rule().
  [[nodiscard]] const std::optional<Holding>& holding() const;

  // What this run may plan with from now on. How idle or crowded the machine is goes by all of its
  // cores, those of the configuration.
  void set_share(const Share& share);
  [[nodiscard]] double cores() const;  // of that share
  // Cores that were used of late by anybody but the pool; absent where the host can't tell.
  [[nodiscard]] std::optional<double> cores_of_others() const;
  void set_jobs_max(unsigned jobs_max);
  [[nodiscard]] const GovernorConfig& config() const;

  [[nodiscard]] bool is_frozen(JobId job) const;  // by the governor or by the user
  [[nodiscard]] std::optional<JobId> keel() const;
  [[nodiscard]] Bytes used() const;  // of the pool, as of the last sample of anything
  [[nodiscard]] std::size_t running() const;
  [[nodiscard]] std::size_t frozen() const;
  [[nodiscard]] std::size_t waiting() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace plimsoll::policy
