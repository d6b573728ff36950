#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "daemon/metrics/snapshot.h"
#include "policy/job/event.h"
#include "report/report.h"

namespace prometheus {
struct MetricFamily;
}

namespace plimsoll::metrics {

// Histograms are kept for so many classes; what is new after that counts as kOtherClasses. A server
// of metrics has every series in memory, and so has whoever scrapes it.
inline constexpr std::size_t kClassesMax = 100;
inline constexpr std::string_view kOtherClasses = "(others)";

// All that is counted from the daemon's start on, and how it is told: the names and labels of
// docs/metrics.md. It decides nothing and reads nothing.
//
// One thread.
class Metrics {
 public:
  explicit Metrics(std::string_view version);
  ~Metrics();

  // What was decided, and what became of it.
  void event(const policy::Event& event);
  // A job has ended for good.
  void ended(const report::JobReport& report);
  // The loop came to a timer so late.
  void lag(Duration late);

  // Everything now.
  [[nodiscard]] std::vector<prometheus::MetricFamily> collect(const Snapshot& snapshot) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace plimsoll::metrics
