#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/units.h"
#include "policy/governor/disk_floor.h"

namespace plimsoll::policy {

// Who starts first of those that could, beside their priorities.
enum class StartOrder : std::uint8_t {
  longest,  // whoever is expected to take longest; what fits goes ahead of what does not
  input,    // as they were entered; nobody goes ahead of another
};

struct GovernorConfig {
  Bytes line{};           // the bytes that the pool may use
  double cores = 1;       // more than 0
  unsigned jobs_max = 1;  // so many at once at most, frozen ones included; at least 1
  bool may_evict = true;  // else only holds and pauses; what can't be held at the line fails
  bool may_lose = true;   // else only jobs that are started again are evicted
  bool may_pause = true;  // false where nothing can be frozen
  bool has_swap = false;  // memory of frozen jobs can be pushed out
  Bytes reserve{};        // of the machine's MemAvailable, left to everybody else
  StartOrder order = StartOrder::longest;
  // Who has waited for so long starts once his memory fits, however busy the cores are.
  Duration cores_wait_max = Duration::max();
  // File systems whose free space is watched; kDisksMax at most.
  std::vector<DiskFloor> disks{};
  // At most so many jobs of a class or tool at once, each at least 1. For the scheduler.
  std::map<std::string, unsigned> caps{};
};

}  // namespace plimsoll::policy
