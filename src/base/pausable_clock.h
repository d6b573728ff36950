#pragma once

#include <optional>

#include "base/check.h"
#include "base/units.h"

namespace plimsoll {

// Time since a start without the stretches in which everything stood still. Pauses may overlap: the
// terminal's and the governor's, say. Time stands still until the last of them is over.
class PausableClock {
 public:
  explicit PausableClock(Instant start) : start_(start) {}

  void pause(Instant now) {
    if (pauses_++ == 0) paused_at_ = now;
  }
  // One pause is over; there was one.
  void resume(Instant now) {
    PLIMSOLL_CHECK(pauses_ > 0);
    if (--pauses_ > 0) return;
    paused_ += now - *paused_at_;
    paused_at_.reset();
  }

  [[nodiscard]] bool is_paused() const { return paused_at_.has_value(); }
  [[nodiscard]] Duration elapsed(Instant now) const { return now - start_; }
  [[nodiscard]] Duration paused(Instant now) const {
    return paused_ + (paused_at_ ? now - *paused_at_ : Duration{});
  }
  [[nodiscard]] Duration ran(Instant now) const { return elapsed(now) - paused(now); }
  // When `ran` will be what is asked for, if nothing pauses any more.
  [[nodiscard]] Instant reaches(Duration ran) const { return start_ + paused_ + ran; }

 private:
  Instant start_;
  unsigned pauses_ = 0;
  std::optional<Instant> paused_at_;
  Duration paused_{};
};

}  // namespace plimsoll
