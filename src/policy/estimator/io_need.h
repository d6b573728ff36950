#pragma once

#include <algorithm>
#include <optional>

#include "base/units.h"

namespace plimsoll::policy {

// How an attempt uses storage devices, on average over its running time.
struct IoNeed {
  double waited = 0;            // share of the time, 0..1, in which a task of it waited for I/O
  double bytes_per_second = 0;  // read from devices and written to them
  bool operator==(const IoNeed&) const = default;
};

// By what it has waited and moved while it ran. Absent unless both are known.
[[nodiscard]] inline std::optional<IoNeed> io_need(std::optional<Duration> waited,
                                                   std::optional<Bytes> moved, Duration ran) {
  if (!waited || !moved || ran <= Duration{}) return std::nullopt;
  const double seconds = to_seconds(ran);
  return IoNeed{.waited = std::clamp(to_seconds(*waited) / seconds, 0.0, 1.0),
                .bytes_per_second = to_double(*moved) / seconds};
}

}  // namespace plimsoll::policy
