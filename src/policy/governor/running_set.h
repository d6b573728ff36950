#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/units.h"
#include "policy/estimator/estimate.h"
#include "policy/governor/member.h"
#include "policy/job/observation.h"
#include "policy/job/tenant.h"

namespace plimsoll::policy {

// Which cores each tenant has used lately. What was used weighs less the longer ago it was: half of
// it is forgotten in kForgotten.
class RecentUse {
 public:
  // Long enough that a burst of short jobs counts, and that one who has waited is heard before his
  // next command, not after it. A guess.
  static constexpr Duration kForgotten = std::chrono::seconds(5);

  // One of its jobs has used so much CPU time until now.
  void used(Tenant tenant, Duration cpu, Instant now);
  // On average; 0 of one who has used nothing.
  [[nodiscard]] double cores(Tenant tenant, Instant now) const;

 private:
  struct Used {
    double seconds = 0;  // of CPU time, as of `at`
    Instant at{};
  };
  [[nodiscard]] static double left(const Used& used, Instant now);

  std::map<Tenant, Used> used_;  // whose use is next to nothing is forgotten
};

// A freeze takes hold so long after its decision, beside the time between two looks: the freezer's
// own 2-5 ms and a turn of a busy supervisor.
inline constexpr Duration kFreezeDelay = std::chrono::milliseconds(50);
// The next look at a job that grows comes at most so much later: both worlds look more often at
// what grows near the line.
inline constexpr Duration kSampleMax = std::chrono::milliseconds(250);

// The attempts that have started, oldest first, and the bytes they have in use: what the pool had
// at the last look at the machine, and what its jobs have shown to have changed since.
class RunningSet {
 public:
  // A new attempt of this job starts now, with the estimate that it was admitted with.
  void start(Ready& ready, const Estimate& estimate, Instant now);
  void observe(Member& member, const JobSample& sample, Instant now);
  void expect(Member& member, const Estimate& estimate, Instant now);
  void observe(const MachineSample& sample, Instant now);
  // So much of what is only told of it counts as in use, 0..1, until it is measured.
  void believe(Member& member, double share);
  void leave(Ready& ready, Instant now);

  // The governor wants it frozen, or no longer; the user does, or no longer. True: so it stops, or
  // goes on, now. What is dying stays as it is.
  bool hold(Member& member, Instant now);
  bool release(Member& member, Instant now);
  bool pause(Member& member, Instant now);
  bool resume(Member& member, Instant now);
  void mark_dying(Member& member, Instant now);

  // By start, ties by id.
  [[nodiscard]] const std::vector<Member*>& members() const { return members_; }

  // The oldest attempt that is not dying and not frozen by the user; one that waits for commands,
  // or gave way to other tenants, only where there is no other. Null if there is none.
  [[nodiscard]] Member* keel() const;
  // The same of those that are not small; the keel, if all are.
  [[nodiscard]] const Member* oldest_sizeable() const;
  // What needs less than so many bytes is small: a server that was started early and runs for days,
  // say. Until it is told, nothing is.
  void set_small(double bytes) { small_ = bytes; }
  // Those that are small, without any that wait for commands or are dying; none, if together they
  // are as large as kSmallTogether. O(running), as sizeable().
  [[nodiscard]] std::size_t small() const;
  static constexpr double kSmallTogether = 4;
  // All others that are not dying.
  [[nodiscard]] std::size_t sizeable() const { return members_.size() - dying_ - small(); }

  [[nodiscard]] std::size_t size() const { return members_.size(); }
  [[nodiscard]] std::size_t jobs() const { return members_.size() - commands_; }
  [[nodiscard]] std::size_t frozen() const { return frozen_; }
  [[nodiscard]] std::size_t held() const { return held_; }  // frozen by the governor
  [[nodiscard]] std::size_t dying() const { return dying_; }
  [[nodiscard]] std::size_t claims() const { return claims_; }  // JobSample::claimed
  // Memory is on its way back: somebody is leaving, or has left and the pool was not looked at
  // since, so that nobody knows how much came.
  [[nodiscard]] bool is_giving_back(Instant now) const;
  // Somebody who was killed has left, and no look at the machine was late enough to be sure to show
  // what that gave back: until when one is waited for.
  [[nodiscard]] std::optional<Instant> look_awaited(Instant now) const;

  // Every running member that was there then has been looked at since. O(running).
  [[nodiscard]] bool is_seen_since(Instant when) const;

  // What its tenants have used of the cores, whether or not those run that have.
  [[nodiscard]] const RecentUse& recent_use() const { return recent_use_; }

  // Bytes of the pool that can't be dropped, now.
  [[nodiscard]] double used() const;
  // The least that it can be: what a member took between its last two looks may have been there at
  // the last look at the machine already, and counts in `used` as if it had come evenly.
  [[nodiscard]] double surely_used() const {
    return std::max(0.0, std::max(pool_used_, members_used_) - not_believed_);
  }
  // Cores that the running members are believed to want together.
  [[nodiscard]] double cores_wanted() const { return std::max(0.0, cores_wanted_); }
  // What the running members may grow by together until a freeze would take hold: not all of them
  // at once are those who need more than they are believed to, so doubts are pooled.
  [[nodiscard]] double rise() const;
  // Of `used`, what no member has shown: other processes of the pool, and what frozen ones lost.
  [[nodiscard]] double unaccounted() const;
  // Of that, what has only come in the last moments, as the pool is looked at more often than each
  // member: it is a part of what they were expected to grow by.
  [[nodiscard]] double begun() const;

 private:
  [[nodiscard]] bool is_small(const Member& member) const;
  void stop(Member& member, Instant now);
  bool go_on(Member& member, Instant now);
  void set_rise(Member& member, Rise rise);
  [[nodiscard]] double whole_rise() const;
  void count_cores(const Member& member, double sign);
  // `fresh`: the share of the change that the last look at the machine can't have seen.
  void set_used(Member& member, Bytes used, double fresh);

  std::vector<Member*> members_;  // each its job's
  std::size_t frozen_ = 0, held_ = 0, dying_ = 0, claims_ = 0, commands_ = 0;
  double small_ = 0;
  Instant looked_{};      // at the machine, last
  double pool_used_ = 0;  // then
  double changed_ = 0;    // by the members since
  // Somebody who was killed has left since; till then, if nobody looks.
  std::optional<Instant> freed_until_;
  std::optional<Instant> freed_at_;  // when one who was killed left: look_awaited()
  double members_used_ = 0;
  double not_believed_ = 0;  // of that, and of what the pool is said to have
  // The least that was unaccounted for since steady_since_, and in the span before.
  double steady_ = 0, steady_before_ = 0;
  Instant steady_since_{};
  double rise_ = 0;           // without what is in doubt
  double rise_variance_ = 0;  // of that
  double cores_wanted_ = 0;
  RecentUse recent_use_;
};

}  // namespace plimsoll::policy
