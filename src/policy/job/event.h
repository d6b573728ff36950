#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"
#include "policy/job/hold_cause.h"
#include "policy/job/job.h"

namespace plimsoll::policy {

// What happened or was decided, in the words of the recorded events (`plimsoll.event/1`).
enum class EventKind : std::uint8_t {
  queued,     // the job is known
  admitted,   // the governor lets it start
  started,    // the executor was asked to start it
  held,       // it waits although it could run; told again when the reason becomes another
  frozen,     //
  thawed,     //
  reclaimed,  //
  evicted,    // the executor was asked to kill it
  requeued,   // its attempt is over, another will follow
  ended,      // for good
  failed,     // the executor was asked to kill it, over the line
  alarm,      // memory has got where something must be done about it
  line,       // the line was changed, or the cores that the run may plan with
};
inline constexpr std::size_t kEventKinds = 13;
[[nodiscard]] std::string_view name_of(EventKind kind);
[[nodiscard]] std::optional<EventKind> event_kind(std::string_view name);

struct Event {
  Instant at{};
  EventKind kind{};
  std::optional<JobId> job{};  // absent: it concerns the whole run
  std::string reason{};
  Numbers numbers{};
  std::optional<HoldCause> hold{};  // of `held`
};

}  // namespace plimsoll::policy
