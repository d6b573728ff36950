#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/units.h"
#include "policy/estimator/demand_forecast.h"
#include "policy/governor/running_set.h"

namespace plimsoll::policy {

// How far forecasts of what the running jobs will use together have been off, for each of the near
// horizons: by when as well as by how much, and with whatever this machine, its samples and its
// starts add. What was forecast is held against what came of the same jobs.
//
// A forecast covers so many standard deviations; it should be passed about as often as that says. A
// horizon at which it is passed more often has its spreads widened until it is not, and they narrow
// again as forecasts hold: a quantile followed step by step, which needs no shape of the errors.
class Hindsight {
 public:
  // What was forecast for the running members, at each horizon: of them alone.
  using Forecasts = std::array<Belief, kHorizonCount>;
  void forecast(const RunningSet& running_set, const Forecasts& ahead, double line, Instant now);

  // Compares what is due. Members that were stopped since are no measure, so that a forecast is
  // dropped with them, unless it has been passed already. O(1) while nothing is due.
  void compare(const RunningSet& running_set, double z, Instant now);
  // Somebody is stopped or killed for memory: what was forecast for later is compared now.
  void cut_short(const RunningSet& running_set, double z);

  // By what to multiply the spreads of each horizon.
  [[nodiscard]] const std::array<double, kHorizonCount>& factors() const { return factors_; }

  Hindsight() { factors_.fill(1); }

 private:
  struct Pending {
    Instant made{};
    std::vector<JobId> jobs;  // sorted
    Belief sum;               // bytes
  };
  void judge(std::size_t horizon, const RunningSet& running_set, double z, bool is_due);

  // Further away jobs that start and end meanwhile make it another set.
  static constexpr std::size_t kJudged = 7;  // up to 40 s
  std::array<std::optional<Pending>, kJudged> pending_;
  std::array<double, kHorizonCount> factors_{};
};

}  // namespace plimsoll::policy
