#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

// Why a job waits, and the numbers that a decision rested on: words that decisions and recorded
// events share.
namespace plimsoll::policy {

// Name and value; the unit is in the name (`used_bytes`, `stood_still_s`). Names are literals.
using Numbers = std::vector<std::pair<std::string_view, double>>;

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
  cap,     // so many of its class run as may run at once
  space,   // a file system would have less free than is to stay free
};

[[nodiscard]] std::string_view name_of(HoldCause cause);

}  // namespace plimsoll::policy
