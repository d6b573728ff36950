#pragma once

#include <vector>

#include "policy/fleet.h"

namespace plimsoll::policy {

// Whose death costs least.
struct Victims {
  std::vector<JobId> jobs;
  double bytes = 0;  // that come back
};

enum class Spare : std::uint8_t {
  nobody,
  right_of_way,  // who has it
  twice_lost,    // also whose last eviction this would be, and who can't be started again
};

// The smallest set whose memory covers the shortage; everybody who may be evicted if that does not
// suffice. In this order: who is over what he was admitted with, by most first; then most bytes for
// each second of work lost; then whose last eviction this would be; who can't be started again last
// of all. Never the keel.
[[nodiscard]] Victims choose_victims(const Fleet& fleet, JobId keel, double shortage,
                                     Spare spare = Spare::right_of_way);

}  // namespace plimsoll::policy
