#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/loop/lag.h"
#include "base/loop/loop.h"
#include "daemon/config.h"
#include "daemon/http/server.h"
#include "daemon/metrics/metrics.h"
#include "daemon/metrics/site.h"
#include "policy/job/event.h"
#include "report/report.h"

namespace plimsoll::daemon {

// What is counted of the daemon, and where it is served. Of the loop's thread.
class Observatory {
 public:
  // `loop` must outlive this.
  Observatory(loop::Loop& loop, std::string_view version);

  // Listens; what is asked for is collected by `source`, which must outlive this. Starts threads:
  // after the guardian has split off.
  Result<void> serve(const MetricsConfig& config, metrics::MetricsSource& source);
  // All that was counted, beside what is so now.
  [[nodiscard]] std::vector<prometheus::MetricFamily> collect(const metrics::Snapshot& now) const;

  void event(const policy::Event& event) { metrics_.event(event); }
  void ended(const report::JobReport& report) { metrics_.ended(report); }

  // How late the loop has been so far.
  [[nodiscard]] loop::LagFigures lag() const { return lag_.figures(); }

  // A timer is due so often, to see how late it is.
  static constexpr Duration kLagGap = std::chrono::seconds(1);

 private:
  loop::Loop& loop_;
  metrics::Metrics metrics_;
  loop::Lag lag_;
  Instant due_{};
  loop::Timer lag_timer_;
  std::unique_ptr<http::Server> server_;  // first to end
};

}  // namespace plimsoll::daemon
