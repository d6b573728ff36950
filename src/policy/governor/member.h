#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/units.h"
#include "policy/estimator/estimate.h"
#include "policy/governor/io_lately.h"
#include "policy/governor/wrote_lately.h"
#include "policy/job/job.h"
#include "policy/job/observation.h"
#include "policy/job/tenant.h"

namespace plimsoll::policy {

// Waiting jobs of one tenant that are expected to behave alike share one estimate, and so one
// number. Chosen by the caller.
enum class Kind : std::uint32_t {};

struct Member;

// A job that could run now or runs, as the governor knows it. It is the caller's, who keeps it
// where it is and as it is from Governor::enter() to withdraw() or leave().
struct Ready {
  JobId job{};
  Kind kind{};
  int priority = 0;  // higher starts earlier
  bool restartable = true;
  bool pausable = true;
  bool may_be_awaited = false;  // by those that run: JobSpec
  unsigned lost = 0;            // attempts that were evicted or lost to the machine
  Tenant tenant = kHost;
  // Of a job that waits for it (JobSpec::part_of): it takes no place, and goes before jobs.
  bool is_command = false;

  // The governor's:
  std::optional<Instant> waits_since{};  // while it waits for its admission
  std::unique_ptr<Member> member{};      // while an attempt runs
};

// A job that was evicted or lost so often has the right of way from then on, one such job at a
// time: it is neither frozen nor evicted, and starts only where its peak fits beside the keel's.
// Should these two come into conflict all the same, it is evicted once more and then runs alone.
// What is killed every time must come to an end.
inline constexpr unsigned kEvictionsMax = 3;

enum class MemberState : std::uint8_t {
  running,
  frozen,  // by the governor, by the user, or both
  dying,   // killed, its memory not back yet
};

// Killed memory is back within 30 ms and the time to free its pages (10 GiB: half a second). What
// is not gone by then hangs in the kernel, or was only asked to end: its memory counts as in use
// until its group is empty, and nobody waits for it.
inline constexpr Duration kDeathMax = std::chrono::seconds(1);
// A look at the machine so soon after such an end may still show the memory. A guess.
inline constexpr Duration kFreedLag = std::chrono::milliseconds(75);

// For want of what the governor freezes a job.
enum class Shortage : std::uint8_t { memory, cores, space };

// By what a job may grow, in bytes.
struct Rise {
  double most = 0;
  double doubt = 0;  // the part of it that takes the job beyond what it is believed to need
  [[nodiscard]] double believed() const { return most - doubt; }
};

// One attempt that has started and is not over.
struct Member {
  const Ready& ready;
  Instant started{};
  MemberState state = MemberState::running;
  Instant since{};                       // in this state
  bool held = false;                     // frozen by the governor
  Shortage held_for = Shortage::memory;  // while `held`
  bool paused = false;                   // frozen by the user
  bool gave_way = false;                 // `held`, and not the keel: other tenants go first
  // It has begun commands, and goes on when they have ended: not frozen, and evicted only for what
  // it takes itself meanwhile.
  bool waits_for_commands = false;
  double used_before_commands = 0;   // bytes: when it began to wait
  unsigned freezes = 0;              // by the governor, one soon after the other
  Instant calm_from{};               // thawed by right of way: not frozen again before
  std::optional<Instant> let_end{};  // past the line it was thawed to come to its end, last
  double let_end_with = 0;           // bytes that it was then believed to reach
  Bytes reclaimed{};                 // asked to be pushed out since it was frozen

  Estimate estimate{};  // of what is to come, as of estimated_at
  Instant estimated_at{};
  double admitted_with = 0;      // bytes: its estimate when it was admitted, doubt and all
  double expected_at_first = 0;  // the same without doubt
  double writes_at_first = 0;    // bytes that it was then believed to write; 0: nobody knew
  double word = 1;               // the share of what is only told of it that counts as in use
  JobSample sample{};
  IoLately io{};
  WroteLately wrote{};
  bool was_known = false;  // when it was admitted: is_known()
  bool settled = false;    // has shown its needs: ran long enough to be judged
  Instant seen{};          // when it was last looked at
  double slope = 0;        // bytes a second between the last looks; not negative
  Rise rise{};             // until a freeze would take hold
  Instant progressed{};    // when CPU or I/O was last seen to move
  Duration stood{};        // the longest that they did not, and then did again by themselves

  // Started without knowledge, and has not shown its needs.
  [[nodiscard]] bool is_unsettled() const;
  // Killed, and its memory is about to come back.
  [[nodiscard]] bool is_leaving(Instant now) const {
    return state == MemberState::dying && now < since + kDeathMax;
  }
  // It may be, as far as that is its own matter.
  [[nodiscard]] bool may_be_paused(Instant now) const {
    return state == MemberState::running && ready.pausable && !waits_for_commands &&
           !has_right_of_way() && now >= calm_from;
  }
  [[nodiscard]] bool has_right_of_way() const { return ready.lost >= kEvictionsMax; }
  [[nodiscard]] double used() const { return to_double(sample.used); }
  // The same where somebody has looked, and not only its client has said so.
  [[nodiscard]] double measured() const { return sample.claimed ? 0 : used(); }
  // As it counts as in use.
  [[nodiscard]] double counted() const { return word * used(); }
  // By what it may grow in so short a time: as fast as of late, and no further than it is believed
  // to, where that is known and holds.
  [[nodiscard]] Rise rise_within(Duration ahead) const;
  // Bytes that it is believed to need beyond what it has.
  [[nodiscard]] double need() const;
  // Bytes that it has left of what its user has said; infinite where nothing is said.
  [[nodiscard]] double left_of_told() const;
  // CPU seconds that its death would throw away; never 0.
  [[nodiscard]] double lost_work() const;
};

}  // namespace plimsoll::policy
