#pragma once

#include <set>

#include "base/loop/loop.h"
#include "kernel/counters/machine_span.h"
#include "kernel/counters/sample_series.h"
#include "kernel/counters/system_sampler.h"

namespace plimsoll::supervisor {

// For spans that want the lowest available memory.
class SystemObserver {
 public:
  SystemObserver() = default;
  SystemObserver(const SystemObserver&) = delete;
  SystemObserver& operator=(const SystemObserver&) = delete;
  virtual ~SystemObserver() = default;
  // A sample of the clock, from the loop.
  virtual void on_system_sample(const counters::SystemSample& sample) = 0;
};

// The whole machine over a run: sampled once a second, and whenever something begins or ends that
// is to be compared with it.
class SystemRecord {
 public:
  // `loop` must outlive this.
  explicit SystemRecord(loop::Loop& loop);

  // The machine now, at most kFreshness old.
  const counters::SystemSample& now();

  // Null: nobody. Must outlive its place here.
  void tell(SystemObserver* observer) { observer_ = observer; }

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
  SystemObserver* observer_ = nullptr;
  loop::Timer timer_;
};

}  // namespace plimsoll::supervisor
