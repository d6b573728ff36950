#pragma once

#include <algorithm>

#include "base/units.h"

namespace plimsoll::cgroup {

// The waits between two looks at a group that is being emptied: 1, 2, 4 ... 128, 250 ms, then 1 s
// each. Most groups are empty within 1 ms of the kill; one that a quarter of a second has not
// emptied waits for a device, and looking often at it helps nobody.
class Backoff {
 public:
  static constexpr Duration kFirst = std::chrono::milliseconds(1);
  static constexpr Duration kDoubledMax = std::chrono::milliseconds(250);
  static constexpr Duration kLast = std::chrono::seconds(1);

  // The next wait.
  constexpr Duration next() {
    const Duration wait = next_;
    next_ = wait < kDoubledMax ? std::min(2 * wait, kDoubledMax) : kLast;
    return wait;
  }

 private:
  Duration next_ = kFirst;
};

}  // namespace plimsoll::cgroup
