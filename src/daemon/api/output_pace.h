#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "base/units.h"

namespace plimsoll::daemon {

// How much of the loop's time goes into what jobs write: a tenth for one user, a fifth for all of
// them, in equal shares. Who stays within that, as whoever does not print without a pause, is read
// at once. Pure: values and `now` in, an instant out.
class OutputPace {
 public:
  static constexpr int kOfUser = 10;  // one part in so many
  static constexpr int kOfAll = 5;
  // So much may be spent ahead: some hundred reads.
  static constexpr Duration kAhead = std::chrono::milliseconds(200);
  // What a turn of the loop, a timer and a watch cost beside what is measured; a guess.
  static constexpr Duration kTurn = std::chrono::microseconds(20);

  // So much time went into this user's output. When more of the same may be looked at, `now` at the
  // earliest.
  Instant spent(std::uint32_t uid, Duration cost, Instant now);

 private:
  // Until when what was spent counts; those in the past are nobody's.
  std::map<std::uint32_t, Instant> until_;
};

}  // namespace plimsoll::daemon
