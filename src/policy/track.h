#pragma once

#include "base/units.h"
#include "policy/observation.h"

namespace plimsoll::policy {

// What a running attempt has shown so far, in constant space; one per attempt, fed with each of its
// samples in order. A new attempt has a new track.
class Track {
 public:
  // O(1). A sample that is not later than the one before only raises what has been reached.
  void observe(const JobSample& sample);

  [[nodiscard]] bool has_samples() const { return samples_ > 0; }
  [[nodiscard]] Duration ran() const { return last_.ran; }
  [[nodiscard]] Bytes used() const { return last_.used; }
  // The most so far.
  [[nodiscard]] Bytes peak() const { return peak_; }
  // Bytes per second of running time, smoothed over some seconds; negative while it shrinks.
  [[nodiscard]] double growth() const { return growth_; }
  // How long its peak has not risen by a share worth the name.
  [[nodiscard]] Duration calm() const { return last_.ran - grown_at_; }
  // Mean cores over its whole running time, and of late; 0 before there are two samples.
  [[nodiscard]] double cores() const;
  [[nodiscard]] double cores_lately() const { return cores_; }

 private:
  JobSample last_{};
  Bytes peak_{};
  Bytes marked_{};  // the peak when it last rose by a share worth the name, at grown_at_
  Duration grown_at_{};
  double growth_ = 0;
  double cores_ = 0;
  unsigned samples_ = 0;
};

}  // namespace plimsoll::policy
