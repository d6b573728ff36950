#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "store/runs/event_log.h"

// The events of a run as what lasts: attempts with their pauses, in lanes.
namespace plimsoll::analysis {

// How an attempt came to its end, as far as events tell.
enum class AttemptEnding : std::uint8_t {
  ended,     // and the job with it
  again,     // the job was put back into the queue
  evicted,   // the same, because its memory was needed
  unending,  // the record ends first
};

struct AttemptPause {
  Duration from{}, to{};
  std::string reason;
};

struct TimelineAttempt {
  std::string job;                   // id
  unsigned attempt = 1;              // which of the job's
  std::size_t lane = 0;              // no two attempts that overlap have the same
  Duration from{}, to{};             // since the run's start
  std::vector<AttemptPause> pauses;  // in order, within
  AttemptEnding ending = AttemptEnding::unending;
  std::string reason;  // of the end, if events tell one
  // The attempt whose end let this one start: that of another, or the eviction of the same job.
  std::optional<std::size_t> admitted_by{};  // place in Timeline::attempts

  [[nodiscard]] Duration paused() const;
  [[nodiscard]] Duration ran() const { return to - from - paused(); }
};

// The job that stood first in the queue, for as long as it did.
struct TimelineHold {
  std::string job;
  Duration from{}, to{};
  std::string reason;
};

// How many jobs were in a state, from this moment on.
struct Counted {
  Duration at{};
  std::int64_t running = 0, paused = 0, waiting = 0;
};

struct Timeline {
  std::vector<TimelineAttempt> attempts;  // by start
  std::size_t lanes = 0;
  std::vector<TimelineHold> holds;  // by start
  std::vector<Counted> counts;      // one for each moment at which one of them changed
  Duration end{};                   // of the last event
};

// `events` in order of time. What has not ended with the last of them ends there.
//
// Who admitted whom: an attempt whose job was held, by the last attempt that ended between then and
// the admission; one that follows an eviction of its own job, by that.
[[nodiscard]] Timeline timeline_of(const std::vector<report::RecordedEvent>& events);

}  // namespace plimsoll::analysis
