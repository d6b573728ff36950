#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/units.h"
#include "policy/estimator/io_need.h"
#include "policy/job/observation.h"

namespace plimsoll::policy {

// What an attempt does with devices is smoothed over so long: what it did before it came to another
// part of its work is nothing to go by. A guess.
inline constexpr Duration kIoLately = std::chrono::seconds(5);
// It tells nothing before it has run for so long: every program is read when it starts.
inline constexpr Duration kIoTells = std::chrono::milliseconds(2500);

// What a running attempt has done with devices of late.
class IoLately {
 public:
  // One look, and the one before it.
  void observe(const JobSample& before, const JobSample& sample) {
    const Duration span = sample.ran - before.ran;
    const bool is_first = before.ran == Duration{};
    if (!sample.io || !sample.io_wait || (!is_first && (!before.io || !before.io_wait))) return;
    const Duration waited = *sample.io_wait - before.io_wait.value_or(Duration{});
    const auto news =
        io_need(std::max(waited, Duration{}), *sample.io - before.io.value_or(Bytes{}), span);
    if (!news) return;  // it has not run since
    // The mean at first.
    const double share = std::max(1 - std::exp(-to_seconds(span) / to_seconds(kIoLately)),
                                  to_seconds(span) / to_seconds(sample.ran));
    need_.waited += (news->waited - need_.waited) * share;
    need_.bytes_per_second += (news->bytes_per_second - need_.bytes_per_second) * share;
    if (sample.ran < kIoTells) return;
    tells_ = true;
    most_moved_ = std::max(most_moved_, need_.bytes_per_second);
  }

  // Absent until it tells anything.
  [[nodiscard]] std::optional<IoNeed> need() const {
    return tells_ ? std::optional(need_) : std::nullopt;
  }
  // The most that it ever moved, bytes a second; beside many others it moves less.
  [[nodiscard]] double most_moved() const { return most_moved_; }

 private:
  IoNeed need_;
  double most_moved_ = 0;
  bool tells_ = false;
};

}  // namespace plimsoll::policy
