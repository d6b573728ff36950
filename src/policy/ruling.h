#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/units.h"
#include "policy/job.h"

// What the governor decides, as values: what is to be done, why, and the numbers it rested on.
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
using Verdict = std::variant<Admit, Reclaim, Freeze, Thaw, Evict, Fail>;

// Name and value; the unit is in the name (`used_bytes`, `stood_still_s`). Names are literals.
using Numbers = std::vector<std::pair<std::string_view, double>>;

struct Ruling {
  Verdict verdict;
  std::string reason;  // a sentence
  Numbers numbers;     // what it rested on
};

// What a job that could run waits for.
enum class HoldCause : std::uint8_t {
  memory,
  cores,
  disk,
  pace,    // too many of which nothing is known were started just now
  alone,   // it was lost too often beside others, or somebody runs for whom that is so
  places,  // so many run as may run at once
  share,   // its user has more of the machine than another who waits
  calm,    // memory was short a moment ago
};

[[nodiscard]] std::string_view name_of(HoldCause cause);

// Why the first in the order of admission waits although it could run.
struct Holding {
  JobId job{};
  HoldCause cause{};
  std::string reason;
  Numbers numbers;
};

}  // namespace plimsoll::policy
