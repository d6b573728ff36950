#pragma once

#include <functional>
#include <set>

#include "engine/machine.h"
#include "measure/machine_span.h"
#include "measure/sample_series.h"
#include "measure/system_sampler.h"

namespace plimsoll::engine {

// The whole machine over a run: sampled once a second, and whenever something begins or ends that
// is to be compared with it.
class SystemRecord {
 public:
  explicit SystemRecord(Machine& machine);

  // The machine now, at most kFreshness old.
  const measure::SystemSample& now();

  // Called with each sample of the clock; for spans that want the lowest available memory.
  void on_sample(std::function<void(const measure::SystemSample&)> callback) {
    on_sample_ = std::move(callback);
  }

  [[nodiscard]] const measure::SystemSeries& series() const { return series_; }

  // Looks once more, at the end: that look is the last of the series.
  const measure::SystemSeries& finish();

  static constexpr Duration kInterval = std::chrono::seconds(1);
  // Many short jobs a second share one look.
  static constexpr Duration kFreshness = std::chrono::milliseconds(10);

 private:
  void look(Instant now);

  measure::SystemSampler sampler_;
  measure::SystemSample latest_;
  measure::SystemSeries series_;
  std::function<void(const measure::SystemSample&)> on_sample_;
  loop::Timer timer_;
};

}  // namespace plimsoll::engine
