#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/units.h"
#include "policy/estimate.h"
#include "policy/governor.h"
#include "policy/observation.h"

namespace plimsoll::policy {

enum class MemberState : std::uint8_t {
  running,
  frozen,  // by the governor, by the user, or both
  dying,   // killed, its memory not back yet
};

// Killed memory is back within 30 ms and the time to free its pages (10 GiB: half a second). What
// is not gone by then hangs in the kernel, or was only asked to end: its memory counts as in use
// until its group is empty, and nobody waits for it.
inline constexpr Duration kDeathMax = std::chrono::seconds(1);

// One attempt that has started and is not over.
struct Member {
  Ready ready;
  Instant started{};
  MemberState state = MemberState::running;
  Instant since{};         // in this state
  bool held = false;       // frozen by the governor
  bool for_cores = false;  // and that for want of cores, not of memory
  bool paused = false;     // frozen by the user
  unsigned freezes = 0;    // by the governor, one soon after the other
  Instant calm_from{};     // thawed by right of way: not frozen again before
  Bytes reclaimed{};       // asked to be pushed out since it was frozen

  Estimate estimate;  // of what is to come, as of estimated_at
  Instant estimated_at{};
  double promised = 0;  // bytes: its estimate when it was admitted
  JobSample sample{};
  bool was_known = false;  // when it was admitted: is_known()
  bool settled = false;    // has shown its needs: ran long enough to be judged
  Instant seen{};          // when it was last looked at
  double slope = 0;        // bytes a second between the last looks; not negative
  double rise = 0;         // bytes by which it may grow until a freeze would take hold
  Instant progressed{};    // when CPU or I/O was last seen to move

  // Killed, and its memory is about to come back.
  [[nodiscard]] bool is_leaving(Instant now) const {
    return state == MemberState::dying && now < since + kDeathMax;
  }
  [[nodiscard]] bool has_right_of_way() const { return ready.lost >= kEvictionsMax; }
  [[nodiscard]] double used() const { return to_double(sample.used); }
  // Bytes that it is believed to need beyond what it has.
  [[nodiscard]] double need() const;
  // CPU seconds that its death would throw away; never 0.
  [[nodiscard]] double lost_work() const;
};

// A freeze takes hold so long after its decision, beside the time between two looks: the freezer's
// own 2-5 ms and a turn of a busy supervisor.
inline constexpr Duration kFreezeDelay = std::chrono::milliseconds(50);
// The next look at a job that grows comes at most so much later: both worlds look more often at
// what grows near the line.
inline constexpr Duration kLookMax = std::chrono::milliseconds(250);

// The attempts that have started, oldest first, and the bytes they have in use: what the pool had
// at the last look at the machine, and what its jobs have shown to have changed since.
class Fleet {
 public:
  using Members = std::unordered_map<JobId, Member>;

  // A new attempt starts now, with the estimate that it was admitted with.
  void start(const Ready& ready, const Estimate& estimate, Instant now);
  void observe(Member& member, const JobSample& sample, Instant now);
  void expect(Member& member, const Estimate& estimate, Instant now);
  void observe(const MachineSample& sample);
  void leave(JobId job);

  // The governor wants it frozen, or no longer; the user does, or no longer. True: so it stops, or
  // goes on, now. What is dying stays as it is.
  bool hold(Member& member, Instant now);
  bool release(Member& member, Instant now);
  bool pause(Member& member, Instant now);
  bool resume(Member& member, Instant now);
  void condemn(Member& member, Instant now);

  [[nodiscard]] Member* find(JobId job);
  [[nodiscard]] const Member* find(JobId job) const;
  Member& at(JobId job);
  [[nodiscard]] const Members& members() const { return members_; }
  Members& members() { return members_; }
  // By start, ties by id.
  [[nodiscard]] const std::set<std::pair<Instant, JobId>>& by_age() const { return by_age_; }

  // The oldest attempt that is not dying and not frozen by the user.
  [[nodiscard]] std::optional<JobId> keel() const;

  [[nodiscard]] std::size_t size() const { return members_.size(); }
  [[nodiscard]] std::size_t frozen() const { return frozen_; }
  [[nodiscard]] std::size_t held() const { return held_; }  // frozen by the governor
  [[nodiscard]] std::size_t dying() const { return dying_; }
  // Memory is on its way back: somebody is leaving, or has left and the pool was not looked at
  // since, so that nobody knows how much came.
  [[nodiscard]] bool is_giving_back(Instant now) const;

  // Bytes of the pool that can't be dropped, now.
  [[nodiscard]] double used() const;
  // The same, but for what somebody may have shown already: `used` has twice what a member took
  // before the last look at the machine and was itself looked at after it.
  [[nodiscard]] double surely_used() const { return std::max(pool_used_, members_used_); }
  // What the running members may grow by until a freeze would take hold.
  [[nodiscard]] double rise() const { return rise_; }
  // Of `used`, what no member has shown: other processes of the pool, and what frozen ones lost.
  [[nodiscard]] double unaccounted() const;

 private:
  void stop(Member& member, Instant now);
  bool go_on(Member& member, Instant now);
  void set_rise(Member& member, double rise);
  void set_used(Member& member, Bytes used);

  Members members_;
  std::set<std::pair<Instant, JobId>> by_age_;
  std::size_t frozen_ = 0, held_ = 0, dying_ = 0;
  double pool_used_ = 0;  // at the last look at the machine
  double changed_ = 0;    // by the members since
  // Somebody who was killed has left since; till then, if nobody looks.
  std::optional<Instant> freed_until_;
  double members_used_ = 0;
  double rise_ = 0;
};

}  // namespace plimsoll::policy
