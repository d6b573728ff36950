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
  once_evicted,  // who has lost an attempt already
};

// The smallest set whose memory covers the shortage; everybody who may be evicted if that does not
// suffice. In this order: who is over what he was admitted with, by most first; then most bytes for
// each second of work lost; who can't be started again last of all. Never the keel, nor who has
// been evicted kEvictionsMax times.
[[nodiscard]] Victims choose_victims(const Fleet& fleet, JobId keel, double shortage,
                                     Spare spare = Spare::nobody);

}  // namespace plimsoll::policy
