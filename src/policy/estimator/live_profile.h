#pragma once

#include <optional>

#include "base/units.h"
#include "policy/job/observation.h"

namespace plimsoll::policy {

// What a running attempt has shown so far, in constant space; one per attempt, fed with each of its
// samples in order. A new attempt has a new track.
class LiveProfile {
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
  // By how much its use jumps up and down beside that growth: a standard deviation, in bytes.
  [[nodiscard]] double wobble() const;
  // How long its peak has not risen by a share worth the name.
  [[nodiscard]] Duration calm() const { return last_.ran - grown_at_; }
  // How long the present rise of its peak has been going on, from the end of the calm before it;
  // zero while it is calm.
  [[nodiscard]] Duration rising() const;
  // Mean cores in use over its whole running time, and of late; 0 before there is a sample.
  [[nodiscard]] double cores() const;
  [[nodiscard]] double cores_lately() const { return cores_; }
  // What it would use of an idle machine, by that and by how long it waited for a core: its time
  // without the waiting, and no more than one core beyond what it had.
  [[nodiscard]] double cores_wanted() const;
  [[nodiscard]] double cores_wanted_lately() const { return cores_wanted_; }
  // As the last sample has them.
  [[nodiscard]] std::optional<Bytes> io() const { return last_.io; }
  [[nodiscard]] std::optional<Duration> io_wait() const { return last_.io_wait; }

 private:
  void look_at_memory(const JobSample& sample, double passed);
  void look_at_cores(const JobSample& sample, double passed);

  JobSample last_{};
  Bytes peak_{};
  Bytes marked_{};  // the peak that the next is compared with, as of marked_at_
  Duration marked_at_{};
  Duration grown_at_{};  // it last rose by a share worth the name
  Duration rising_since_{};
  double growth_ = 0;
  double jumps_ = 0;  // mean square of what a sample is off from where growth_ led
  double cores_ = 0;
  double cores_wanted_ = 0;
  unsigned samples_ = 0;
};

}  // namespace plimsoll::policy
