#pragma once

#include <algorithm>

#include "base/units.h"
#include "policy/job/observation.h"

namespace plimsoll::policy {

// What is written between two looks counts as writing from this on; more slowly, over several.
inline constexpr Bytes kWroteLeast{1 << 20};
// Who has been quiet for less may only have been looked at seldom (docs/disk.md).
inline constexpr Duration kQuietLeast = std::chrono::seconds(1);

// When a running attempt has written to file systems, in its running time.
class WroteLately {
 public:
  // One look, and the one before it.
  void observe(const JobSample& before, const JobSample& sample) {
    if (!sample.written) return;
    if (*sample.written < noted_ + kWroteLeast) return;
    if (noted_ == Bytes{}) began_ = before.ran;
    noted_ = *sample.written;
    last_ = sample.ran;
  }

  // Whether it is to be doubted that it has written all that it will: 1 while it writes, and 0 once
  // it has been quiet for as long as it wrote. A guess, but one that needs no scale of its own.
  [[nodiscard]] double doubt(const JobSample& sample) const {
    if (noted_ == Bytes{}) return 1;
    const Duration wrote = std::max<Duration>(last_ - began_, kQuietLeast);
    return std::clamp(1 - to_seconds(sample.ran - last_) / to_seconds(wrote), 0.0, 1.0);
  }

 private:
  Bytes noted_{};  // what it had written when it was last seen to
  Duration began_{}, last_{};
};

}  // namespace plimsoll::policy
