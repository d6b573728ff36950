#pragma once

#include <optional>
#include <vector>

#include "base/units.h"
#include "policy/governor/governor_config.h"
#include "policy/governor/running_set.h"
#include "policy/governor/victims.h"
#include "policy/job/decision.h"

namespace plimsoll::policy {

// What a job has, and what it needs beyond that before it ends and gives all of it back; bytes.
struct Claim {
  double used = 0;
  double need = 0;
};

// Whether the jobs can all end one after the other, the others standing still meanwhile: the first
// with what is free, each next with what those before have given back (Dijkstra's banker). While
// there is a way out, pausing suffices; without one, somebody must be evicted.
[[nodiscard]] bool is_safe_state(std::vector<Claim> claims, double free);

// Growers are frozen when they are about to come this close to the line, as a share of it: samples
// are late, and a task that sleeps in the kernel's throttle at the line freezes only after 2 s.
inline constexpr double kCushion = 0.01;
// Past the line by no more than this share of it, nobody is evicted: the line must hold within 3 %,
// and below 1.25 % the kernel's throttle at the line is not felt.
inline constexpr double kTolerance = 0.01;
// What an eviction frees beyond the shortage, as a share of it, so that the next one is not needed
// at once; the cushion comes on top.
inline constexpr double kEvictionBuffer = 0.05;
// So long after a round of evictions the next victims are chosen without waiting for its memory.
inline constexpr Duration kRoundDeadline = kDeathMax;
// So long a tenant who is within his part is not made to pay for one that was killed and does not
// die: on a machine without processors to spare its memory takes as long to come back.
inline constexpr Duration kDeathAwaitedMost = std::chrono::seconds(5);
// How long a job that all others stand still for may be past the line before it fails: its memory
// may fall again, but the line must hold within a second.
inline constexpr Duration kOverLineGrace = std::chrono::milliseconds(500);
// The same of the oldest job of all runs: younger ones are over their part before, and end.
inline constexpr Duration kYieldGrace = std::chrono::seconds(1);
// Further past the line than this share of it there is no such patience: cgroup v1 slows nobody
// down, and the limit at which its kernel kills stands twice as far above the line.
inline constexpr double kOverLineMost = 0.125;
// Whose end gives back a smaller part of what is short does not fail for it, if others give back
// more.
inline constexpr double kGivenBackLeast = 0.1;
// Past the line, before a job is ended that can't be run again: a paused one that is believed to
// have its peak behind it, and no more than kNearEnd before it, goes on for so long, if its end
// gives back what is short. No more of them after kLetEndMost, nor further past the line than a
// share of it: the kernel's limit may be as near as 2.6 %.
inline constexpr Duration kLetEnd = std::chrono::milliseconds(500);
inline constexpr Duration kNearEnd = std::chrono::seconds(2);
inline constexpr Duration kLetEndMost = std::chrono::seconds(1);
inline constexpr double kLetEndOver = 0.02;
// Who did not end is not let go so again before.
inline constexpr Duration kLetEndAgain = std::chrono::seconds(10);
// Pages are dropped no more often than this; the kernel does the same by itself at the line.
inline constexpr Duration kReclaimGap = std::chrono::seconds(5);
// Memory goes to swap or zram at some 600 MB/s (measured); so long it is given before an eviction.
inline constexpr Duration kSwapPatience = std::chrono::milliseconds(700);
// A member that grows by less than this share of the line until a freeze takes hold is left alone.
inline constexpr double kGrowthLeast = 0.0005;
// Who grows, is unknown and can't be run again is taken to grow on for so long before it ends.
inline constexpr Duration kUnknownGrowth = std::chrono::seconds(1);
// The way out is looked for at most so often.
inline constexpr Duration kWayOutGap = std::chrono::milliseconds(100);

// What is done while memory rises towards the line: the rungs above "hold", mildest first.
class MemoryResponse {
 public:
  struct Limits {
    double line = 0;   // as configured
    double limit = 0;  // the line, or less where the machine has less: both constraints
    std::optional<double> left_by_others{};  // bytes, as Share has it
    bool may_pause_keel = false;             // it is alone, and Share::has_elder
  };

  // Appends what is to be done and marks it in the running set. O(1) while nothing presses.
  void respond(RunningSet& running_set, const GovernorConfig& config, const Limits& limits,
               Instant now, std::vector<Decision>& rulings);

  // When something was last frozen for memory or evicted.
  [[nodiscard]] std::optional<Instant> last_trouble() const { return last_trouble_; }
  // When the next look is due although nothing may happen before.
  [[nodiscard]] std::optional<Instant> next_sample() const { return next_sample_; }

 private:
  struct Turn;
  static void end_right_of_way(const Turn& turn);
  void freeze_growers(Turn& turn);
  void keep_safe_state(Turn& turn);
  void freeze(Turn& turn, Member& member, const char* why);
  [[nodiscard]] static double wanted_for(const Turn& turn, double shortage);
  [[nodiscard]] bool reclaim(Turn& turn, double shortage);
  void evict(Turn& turn, double shortage);
  [[nodiscard]] static bool is_owed_by_dying(const Turn& turn, const Victims& victims,
                                             const TenantExcess& excess);
  [[nodiscard]] bool let_one_end(Turn& turn, double shortage);
  void fail_one(Turn& turn);
  [[nodiscard]] static std::string why_it_fails(const Turn& turn, const Member& member, bool alone);
  [[nodiscard]] static bool waits_for_others(const Turn& turn, const Member& member);

  std::optional<Instant> round_;       // of evictions, begun
  std::optional<Instant> over_since_;  // past the limit
  std::optional<Instant> swapping_since_;
  std::optional<Instant> last_reclaim_, last_trouble_, last_safe_state_, next_sample_;
};

}  // namespace plimsoll::policy
