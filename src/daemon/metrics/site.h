#pragma once

#include <memory>
#include <vector>

#include "base/units.h"
#include "daemon/http/site.h"

namespace prometheus {
struct MetricFamily;
}

namespace plimsoll::metrics {

// So long one answer of the loop is good for whoever asks: however many do, it collects once in
// that time. Prometheus asks no more often than that.
inline constexpr Duration kAnswerKept = std::chrono::seconds(1);

// Whose figures are served.
class MetricsSource {
 public:
  virtual ~MetricsSource() = default;
  // All of them as they are now. On the loop's thread.
  virtual std::vector<prometheus::MetricFamily> collect() = 0;
};

// GET /metrics. It knows no state: the figures are asked of the daemon's loop, by a posted closure.
// `source` is asked on the loop's thread, on which the site must end; both must outlive it.
[[nodiscard]] std::unique_ptr<http::Site> metrics_site(loop::Loop& daemon, MetricsSource& source);

}  // namespace plimsoll::metrics
