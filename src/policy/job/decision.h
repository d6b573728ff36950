#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/units.h"
#include "policy/job/hold_cause.h"
#include "policy/job/job.h"

// What queue and governor decide, as values: what is to be done, why, and the numbers it rested on.
namespace plimsoll::policy {

// Start this waiting job.
struct Admit {
  JobId job{};
  bool operator==(const Admit&) const = default;
};
// Push memory of a frozen job out to swap, or drop clean pages of the whole pool (no job).
struct Reclaim {
  std::optional<JobId> job{};
  Bytes amount{};
  bool operator==(const Reclaim&) const = default;
};
// Stop this running job where it stands.
struct Freeze {
  JobId job{};
  bool operator==(const Freeze&) const = default;
};
// Let this frozen job go on.
struct Thaw {
  JobId job{};
  bool operator==(const Thaw&) const = default;
};
// Kill this attempt to free its memory; the job is started again if it is restartable.
struct Evict {
  JobId job{};
  bool operator==(const Evict&) const = default;
};
// Kill this attempt for good, over_line: it does not fit although everything else stands still.
struct Fail {
  JobId job{};
  bool operator==(const Fail&) const = default;
};
// Kill this running attempt: the run stops, and nobody waits for it to end.
struct Cancel {
  JobId job{};
  bool operator==(const Cancel&) const = default;
};
// The job never started and never will: it has ended, `skipped`.
struct Skip {
  JobId job{};
  bool operator==(const Skip&) const = default;
};
// The job waited for another attempt and gets none: it has ended, as its last attempt did.
struct GiveUp {
  JobId job{};
  bool operator==(const GiveUp&) const = default;
};
// The first six are the governor's, the others the queue's.
using Action = std::variant<Admit, Reclaim, Freeze, Thaw, Evict, Fail, Cancel, Skip, GiveUp>;

struct Decision {
  Action action;
  std::string reason;  // a sentence
  Numbers numbers{};   // what it rested on
};

// Why the first in the order of admission waits although it could run.
struct Holding {
  JobId job{};
  HoldCause cause{};
  std::string reason;
  Numbers numbers;
};

}  // namespace plimsoll::policy
