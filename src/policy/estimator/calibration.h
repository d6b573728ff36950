#pragma once

#include <cstdint>

#include "base/units.h"
#include "policy/estimator/estimate.h"

namespace plimsoll::policy {

// How good the estimates of a run were, told from those that attempts were admitted with.
class Calibration {
 public:
  // An attempt has ended by itself whose peak was estimated so at its start. One that was cut off
  // tells nothing.
  void add(const Belief& estimated, Bytes peak, Duration ran);

  [[nodiscard]] std::uint64_t attempts() const { return attempts_; }
  // Of all attempts, 0..1; 0 without any.
  [[nodiscard]] double above_mean() const { return share(above_mean_); }
  // By more than two spreads.
  [[nodiscard]] double far_above() const { return share(far_above_); }
  // Reserved by means and not used, over what was reserved: 0..1, by bytes times seconds.
  [[nodiscard]] double wasted() const { return reserved_ > 0 ? wasted_ / reserved_ : 0; }

 private:
  [[nodiscard]] double share(std::uint64_t count) const {
    return attempts_ > 0 ? static_cast<double>(count) / static_cast<double>(attempts_) : 0;
  }

  std::uint64_t attempts_ = 0;
  std::uint64_t above_mean_ = 0;
  std::uint64_t far_above_ = 0;
  double reserved_ = 0;
  double wasted_ = 0;
};

}  // namespace plimsoll::policy
