#pragma once

#include <optional>
#include <vector>

#include "base/units.h"
#include "policy/governor/admission_context.h"
#include "policy/governor/disk_space.h"
#include "policy/governor/governor_config.h"
#include "policy/governor/memory_response.h"
#include "policy/governor/running_set.h"
#include "policy/governor/tenant_excess.h"
#include "policy/job/decision.h"

namespace plimsoll::policy {

// A frozen job goes on when it fits with this to spare below the line: 2 % beyond the cushion at
// which growers are frozen, so that nothing flickers.
inline constexpr double kThawCushion = 0.03;
// How far it must fit: until it could be frozen again. What is further ahead is for admissions:
// what is frozen holds its memory either way.
inline constexpr Duration kThawSample = std::chrono::seconds(2);
// Frozen at least so long, but one that is known for no more than this part of the time that it
// takes, from the least on; twice as long each time that it is frozen soon after it was thawed, up
// to the most.
inline constexpr Duration kDwell = std::chrono::milliseconds(500);
inline constexpr double kDwellPart = 0.05;
inline constexpr Duration kDwellLeast = std::chrono::milliseconds(100);
inline constexpr Duration kDwellMax = std::chrono::seconds(64);
[[nodiscard]] Duration dwell_of(const Member& member);
// An unknown job that grew is taken to grow on as it did, which a short burst makes too much for
// any line. After so many times the least time it is let go on all the same, where it finds room
// for as much as it has, after twice as long for half of that, and so on: only that shows whether
// it still grows. A guess.
inline constexpr int kTryAfterDwells = 20;
// The keel does nothing for so long while others are frozen: one of them may hold what it waits
// for. One that has slept before, and woken by itself, is given half as long again as that took.
inline constexpr Duration kStandStill = std::chrono::seconds(5);
inline constexpr Duration kStandStillMost = std::chrono::minutes(1);
// Of those that are held, one is believed to need what its kind takes if attempts of that differ by
// no more than this share. A guess.
inline constexpr double kEvenKind = 0.25;
// Who was let go for another reason than room is not frozen again before.
inline constexpr Duration kRightOfWay = std::chrono::seconds(10);
// Nothing stays frozen longer.
inline constexpr Duration kFrozenMax = std::chrono::minutes(30);
// What paused jobs hold is wasted, byte by second; when that is so many times what it would waste
// to run the cheapest victim again, the victim goes. At 1 it is never wrong by more than a factor
// of two, whatever comes, as with skis that one rents until they could have been bought.
inline constexpr double kWasteFactor = 1;
// Before that, nobody is evicted for waste. After that a job of a tenant who has more than his part
// (TenantExcess) is, if it keeps one paused for so long whose tenant has not, whatever it costs.
inline constexpr Duration kWasteFrom = std::chrono::seconds(30);

// The way down from the memory response: lets frozen jobs go on, oldest first.
class ResumePolicy {
 public:
  // Appends what is to be done and marks it in the running set. O(running) if somebody is frozen.
  void descend(RunningSet& running_set, const GovernorConfig& config,
               const MemoryResponse::Limits& limits, const AdmissionContext& admission_context,
               const DiskSpace& disks, Instant now, std::vector<Decision>& rulings);

  // The keel is never frozen: lets it go on if it has become the keel while it was. O(1).
  static void free_keel(RunningSet& running_set, Instant now, std::vector<Decision>& rulings);

 private:
  struct Turn;
  void thaw(Turn& turn, Member& member, std::string reason, Numbers numbers);
  [[nodiscard]] bool fits(const Turn& turn, const Member& member, Numbers& numbers) const;
  [[nodiscard]] static bool may_be_tried(const Turn& turn, const Member& member);
  [[nodiscard]] static std::vector<Member*> in_turn(const Turn& turn);
  void thaw_what_fits(Turn& turn);
  void thaw_overdue(Turn& turn);
  [[nodiscard]] static Member* holder_of_lock(const Turn& turn, Tenant tenant);
  void unlock_keel(Turn& turn);
  void end_waste(Turn& turn);
  [[nodiscard]] std::optional<double> claim_of(const Turn& turn, const TenantExcess& excess,
                                               const Member& held) const;
  void give_back(Turn& turn);
};

}  // namespace plimsoll::policy
