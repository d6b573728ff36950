#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/units.h"

namespace plimsoll::guardian {

// Whether the supervisor has stood still: judged by the count of its beats, looked at again and
// again. Pure.
//
// Only time in which the looker itself was awake counts: after a look that comes late (a suspended
// machine, a stopped guardian, one that got no processor either) nobody can tell who slept.
class StallDetector {
 public:
  // A loop that has not turned for so long is stopped, spins, or gets no processor: the wall then
  // throttles with nobody to relieve it. Four beats (kBeatInterval).
  static constexpr Duration kMax = std::chrono::milliseconds(200);
  // How often to look; the stop of a supervisor is found between kMax and so much later.
  static constexpr Duration kLookInterval = std::chrono::milliseconds(50);
  // How often while the pool is held: so much is lost at most after the next beat.
  static constexpr Duration kHeldLookInterval = std::chrono::milliseconds(5);
  // What one look can add at most, be it ever so late.
  static constexpr Duration kLookMax = 2 * kLookInterval;

  // True while the silence has lasted for kMax.
  [[nodiscard]] bool look(std::uint64_t beats, Instant now) {
    if (!last_look_ || beats != beats_) {
      silent_ = {};
    } else {
      silent_ += std::min(now - *last_look_, kLookMax);
    }
    beats_ = beats;
    last_look_ = now;
    return silent_ >= kMax;
  }

  // Nothing was looked at for a while, and for a reason.
  void forget() { last_look_.reset(); }

 private:
  std::optional<Instant> last_look_;
  std::uint64_t beats_ = 0;
  Duration silent_{};
};

}  // namespace plimsoll::guardian
