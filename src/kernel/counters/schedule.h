#pragma once

#include "base/units.h"

namespace plimsoll::counters {

// The gap after the first sample of an attempt. A command of 300 ms then has five; a shorter one
// is told by the kernel's peaks and totals, which the last look has.
inline constexpr Duration kSampleGapMin = std::chrono::milliseconds(10);

// The gap while an attempt is young: fine enough to see phases, and 1,000 jobs at 1 Hz cost under
// 3 % of a core.
inline constexpr Duration kSampleGapYoung = std::chrono::seconds(1);
inline constexpr Duration kYoung = std::chrono::minutes(1);

// From then on the gap is the same share of the age, up to this one. What a sample can show of a
// day-long run in 200 points is coarser still.
inline constexpr Duration kSampleGapMax = std::chrono::minutes(1);

// How long after a sample taken at `age`, the time since the attempt's start, the next is due:
// samples at 0, 10, 20, 40, 80, 160 ms ..., each second, and each minute after an hour. Never
// shorter at a greater age.
constexpr Duration sample_gap(Duration age) {
  const Duration share = age < kYoung ? age : age / (kYoung / kSampleGapYoung);
  const Duration most = age < kYoung ? kSampleGapYoung : kSampleGapMax;
  if (share < kSampleGapMin) return kSampleGapMin;
  return share < most ? share : most;
}

// The gap of a group at rest (GroupFiles), if it would be shorter. Such looks are put together at
// instants so far apart, so that one wake-up serves many jobs that sleep.
inline constexpr Duration kSampleGapRest = std::chrono::milliseconds(2500);
inline constexpr Duration kRestTogether = std::chrono::milliseconds(250);

// When a group that is found at rest `now` is looked at again, for decisions.
constexpr Instant rest_due(Instant now) {
  const Duration due = (now + kSampleGapRest).time_since_epoch();
  return Instant(due - due % kRestTogether);
}

// How many samples are missing where one was asked for at `asked`, for `due`, and is taken `now`:
// those that would have followed it with the same gap by now.
constexpr std::uint64_t samples_dropped(Instant asked, Instant due, Instant now) {
  if (due <= asked || now <= due) return 0;
  return static_cast<std::uint64_t>((now - due) / (due - asked));
}

}  // namespace plimsoll::counters
