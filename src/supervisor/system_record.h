#pragma once

#include <functional>
#include <set>

#include "kernel/counters/machine_span.h"
#include "kernel/counters/sample_series.h"
#include "kernel/counters/system_sampler.h"
#include "supervisor/supervisor.h"

namespace plimsoll::supervisor {

// The whole machine over a run: sampled once a second, and whenever something begins or ends that
// is to be compared with it.
class SystemRecord {
 public:
  explicit SystemRecord(Supervisor& supervisor);

  // The machine now, at most kFreshness old.
  const counters::SystemSample& now();

  // Called with each sample of the clock; for spans that want the lowest available memory.
  void on_sample(std::function<void(const counters::SystemSample&)> callback) {
    on_sample_ = std::move(callback);
  }

  [[nodiscard]] const counters::SystemSeries& series() const { return series_; }

  // Looks once more, at the end: that look is the last of the series.
  const counters::SystemSeries& finish();

  static constexpr Duration kInterval = std::chrono::seconds(1);
  // Many short jobs a second share one look.
  static constexpr Duration kFreshness = std::chrono::milliseconds(10);

 private:
  void look(Instant now);

  counters::SystemSampler sampler_;
  counters::SystemSample latest_;
  counters::SystemSeries series_;
  std::function<void(const counters::SystemSample&)> on_sample_;
  loop::Timer timer_;
};

}  // namespace plimsoll::supervisor
