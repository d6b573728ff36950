#pragma once

#include <cmath>
#include <optional>

#include "base/units.h"
#include "policy/observation.h"

namespace plimsoll::policy {

// Figures of cores are smoothed over about so long: longer than the turn of a job from one phase to
// the next, shorter than what a wrong start would cost.
inline constexpr Duration kCoresShown = std::chrono::seconds(5);

// How busy the machine's cores are, smoothed.
class Processors {
 public:
  void observe(const MachineSample& sample, Instant now) {
    using Span = std::chrono::duration<double>;
    const double share =
        seen_ ? 1 - std::exp(-Span(now - *seen_).count() / Span(kCoresShown).count()) : 1;
    seen_ = now;
    if (sample.runnable) smooth(runnable_, static_cast<double>(*sample.runnable), share);
    if (sample.cores_busy) smooth(busy_, *sample.cores_busy, share);
    io_full_ = sample.stall.io_full;
  }

  // Absent where the host can't tell.
  [[nodiscard]] std::optional<double> runnable() const { return runnable_; }  // tasks
  [[nodiscard]] std::optional<double> busy() const { return busy_; }          // cores
  [[nodiscard]] std::optional<double> io_full() const { return io_full_; }    // share, as it is now

 private:
  static void smooth(std::optional<double>& value, double news, double share) {
    value = value ? *value + (news - *value) * share : news;
  }

  std::optional<Instant> seen_;
  std::optional<double> runnable_, busy_, io_full_;
};

}  // namespace plimsoll::policy
