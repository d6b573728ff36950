#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "policy/governor/running_set.h"
#include "policy/job/decision.h"
#include "policy/job/tenant.h"

namespace plimsoll::policy {

// Cores are crowded when the running jobs want so many times as many as there are: each then runs a
// quarter of the time, and what it left in the caches is gone when its turn comes. A guess.
inline constexpr double kCrowded = 4;
// For so long without a break: the crowd of short processes that a build starts is over before.
inline constexpr Duration kCrowdPersists = std::chrono::seconds(30);
// One job is frozen at a time; so long it takes until its neighbours have shown what came of it.
inline constexpr Duration kCrowdGap = std::chrono::seconds(10);
// It goes on when the jobs want no more than so many times the cores with it.
inline constexpr double kRoomy = 2;
// Who uses less of a core is not what the crowd is made of.
inline constexpr double kComputes = 0.5;

// What the jobs of each tenant want of the cores, of which each has an equal part. Made in
// O(running), right until a member starts, stops or goes on.
class CoreClaims {
 public:
  CoreClaims(const RunningSet& running_set, double cores);

  // Cores that his running jobs want.
  [[nodiscard]] double wanted(Tenant tenant) const;
  // Whether there are cores enough for a member that was frozen for them: of its tenant's part,
  // beside his running jobs. What others want does not count, as they may want it for ever.
  [[nodiscard]] bool has_room(const Member& member) const;

 private:
  std::map<Tenant, double> wanted_;  // of whoever has a job that is not dying
  double part_ = 0;
};

// Freezes jobs while they want far more cores than there are: those of the tenant who wants most,
// the last started first. What a job wants is the CPU time that it uses and the time that it waits
// for a core. As many as there are cores always go on: others may keep the machine busy for ever.
class Crowding {
 public:
  // Appends what is to be done and marks it in the running set. O(1) unless the cores are crowded.
  void relieve(RunningSet& running_set, double cores, Instant now, std::vector<Decision>& rulings);

 private:
  std::optional<Instant> crowded_since_;
  std::optional<Instant> last_;  // frozen
};

}  // namespace plimsoll::policy
