#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/units.h"
#include "policy/job/observation.h"

namespace plimsoll::policy {

// Figures of cores are smoothed over about so long: many times the slice of time that the kernel
// gives a task, shorter than what a wrong start would cost.
inline constexpr Duration kCoresShown = std::chrono::seconds(1);

// Others that use fewer cores are not worth a word; a guess.
inline constexpr double kCoresTold = 0.2;

// How busy the machine's cores are, by CPU time that was used, smoothed.
class Processors {
 public:
  void observe(const MachineSample& sample, Instant now) {
    using Span = std::chrono::duration<double>;
    const double share =
        seen_ ? 1 - std::exp(-Span(now - *seen_).count() / Span(kCoresShown).count()) : 1;
    seen_ = now;
    if (sample.cores_busy) smooth(busy_, *sample.cores_busy, share);
    if (sample.cores_busy && sample.pool_cores) {
      smooth(others_, std::max(0.0, *sample.cores_busy - *sample.pool_cores), share);
    }
  }

  // Absent where the host can't tell.
  [[nodiscard]] std::optional<double> busy() const { return busy_; }      // cores
  [[nodiscard]] std::optional<double> others() const { return others_; }  // of these, not by us

 private:
  static void smooth(std::optional<double>& value, double news, double share) {
    value = value ? *value + (news - *value) * share : news;
  }

  std::optional<Instant> seen_;
  std::optional<double> busy_, others_;
};

}  // namespace plimsoll::policy
